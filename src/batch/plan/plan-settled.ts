/** Plans for files as they come into watched folders: what is wrong with one keeps no other from being worked on. */
import { Failure } from '../../errors/failure.ts';
import type { BatchItem } from '../item.ts';
import type { History, PlanIo, PlannedItem, PlanRequest } from './batch-plan.ts';
import { namedPaths } from './candidate.ts';
import { collect } from './collect.ts';
import { decideItems, settle } from './decide-items.ts';
import { type Delivery, readDelivery } from './delivery.ts';
import { describePreparations } from './describe-preparations.ts';
import { checkSpace } from './disk-space.ts';
import { type InputProblem, unusable } from './input.ts';
import { createItem, fileOf, findAlike } from './items.ts';
import { type PlacedItem, planItems } from './plan-items.ts';
import { buildRequests, type PlannedRequest } from './requests.ts';
import { findClashes, resultPaths } from './result-paths.ts';

export interface SettledPlan {
  readonly planned: readonly PlannedItem[];
  /** What cannot be used as it is, each with why. */
  readonly leftOut: readonly InputProblem[];
  /** What people should know of the others. */
  readonly notes: readonly string[];
}

export interface SettledPlanner {
  readonly delivery: Delivery;
  /** What is asked for with each file. */
  readonly requests: readonly PlannedRequest[];
  /** Plans for these files, absolute, and no others. @throws Failure (`disk`) when their results would find no room */
  plan(paths: ReadonlySet<string>, history: History): Promise<SettledPlan>;
}

/** Results are outside the folders that are watched. */
const NO_RESULTS: ReadonlySet<string> = new Set();

/**
 * Makes plans one after the other; each knows those before.
 * @param request whose operands are the folders
 * @throws Failure (`usage`) for options that no file could be planned with
 */
export function createSettledPlanner(request: PlanRequest, io: PlanIo): SettledPlanner {
  const delivery = readDelivery(request.kind, request.options, io);
  const requests = checkOptions(request, delivery);
  const named = namedPaths(io.cwd, request.operands, request.options);
  const known = new Map<string, PlacedItem>();

  /** New items that conflict with no known item. */
  function pickFree(items: readonly PlacedItem[], problems: InputProblem[]): readonly PlacedItem[] {
    const own = new Map(items.map(({ item }) => [item.key, item]));
    // The same file, changed: it takes the place of what it was.
    const others = [...known.values()].filter(({ item }) => !isSameFile(item, own.get(item.key)));
    const all = [...others, ...items];
    const found = [...findAlike(all.map(({ item }) => item)), ...findClashes(claimsOf(all))];
    problems.push(...found);
    const blocked = new Set(found.map(({ pointer }) => pointer));
    return items.filter(({ item }) => !blocked.has(item.label));
  }

  return {
    delivery,
    requests,
    async plan(paths, { recorded, choices }) {
      const problems: InputProblem[] = [];
      const isWanted = ({ path }: { path: string | null }) => path !== null && paths.has(path);
      const { candidates } = await collect({ ...request, isWanted }, io, problems);
      // Putting a file into a watched folder counts as naming it.
      const wanted = candidates.map((each) => ({ ...each, isNamed: true }));
      const place = { delivery, results: NO_RESULTS, isWatched: true };
      const { items } = await planItems(request, wanted, place, io, problems);
      const free = pickFree(items, problems);
      const decisions = await decideItems(
        free.map(({ item }) => item),
        recorded,
        choices,
      );
      const planned: PlannedItem[] = [];
      const taken: PlacedItem[] = [];
      for (const [position, placed] of free.entries()) {
        const own: InputProblem[] = [];
        const decided = decisions.slice(position, position + 1);
        const settled = await settle([placed], decided, delivery, named, own);
        if (own.length === 0) {
          planned.push(...settled);
          taken.push(placed);
        }
        problems.push(...own.map((each) => describeFor(placed.item, each)));
      }
      const shortage = await checkSpace(planned, delivery, io);
      if (shortage !== null) throw noRoom(shortage);
      for (const placed of taken) known.set(placed.item.key, placed);
      return { planned, leftOut: problems, notes: describePreparations(planned) };
    },
  };
}

/** What would be wrong with every file is told before the first one comes. */
function checkOptions(
  { kind, body, options, problems: before }: PlanRequest,
  delivery: Delivery,
): readonly PlannedRequest[] {
  const problems = [...before];
  const requests = buildRequests(kind, body, options, problems);
  if (problems.length > 0) throw unusable(problems, null);
  const any = { type: 'upload', label: 'any', stem: 'any', name: 'any', id: 'any' } as const;
  for (const each of requests) resultPaths(createItem(kind, any, each), delivery);
  return requests;
}

function isSameFile(left: BatchItem, right: BatchItem | undefined): boolean {
  return right !== undefined && fileOf(left.input)?.path === fileOf(right.input)?.path;
}

function claimsOf(items: readonly PlacedItem[]) {
  return items.flatMap(({ item, claims }) =>
    item.input.type === 'unusable' ? [] : claims.map((path) => ({ label: item.label, path })),
  );
}

/** A problem of a result, reported for its item. */
function describeFor({ label }: BatchItem, { pointer, detail }: InputProblem): InputProblem {
  return pointer === label ? { pointer, detail } : { pointer: label, detail: `${pointer} ${detail}` };
}

function noRoom({ pointer, detail }: InputProblem): Failure {
  return new Failure({
    category: 'disk',
    code: 'DISK_FULL',
    message: `${pointer} ${detail}`,
    advice: 'Free room, then run the same command again to continue.',
  });
}
