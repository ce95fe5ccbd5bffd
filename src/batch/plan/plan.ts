/**
 * Plans what a command will do, and checks it as far as possible without the service. Sends and writes nothing.
 *
 * `makePlan` makes all plans: those of job commands, of watched folders, and of localizations in stages. A `PlanMode` holds
 * what differs between them.
 */

import { diskFailure, type Failure } from '../../base/failure.ts';
import { createInputs } from '../../base/find-input.ts';
import { isInShard } from '../shard.ts';
import type { BatchPlan, History, PlanIo, PlannedItem, PlanRequest } from './batch-plan.ts';
import { namedPaths } from './candidate.ts';
import { collect } from './collect.ts';
import { isCalledLikeInput } from './content.ts';
import { decideItems, recordedResults, settleItem } from './decide-items.ts';
import type { Decision } from './decision.ts';
import { type Delivery, readDelivery } from './delivery.ts';
import { describePreparations } from './describe-preparations.ts';
import { checkSpace } from './disk-space.ts';
import { type InputProblem, joinProblems, unusableInputFailure } from './input.ts';
import { createItem, fileOf, findDuplicateItems } from './items.ts';
import { type PlacedItem, planItems } from './plan-items.ts';
import { findRenamed, withRenamed } from './renamed.ts';
import { buildRequests, type PlannedRequest } from './requests.ts';
import { type Claim, findClashes, findOverwrittenInputs, resultPaths } from './result-paths.ts';

interface PlanMode {
  /** Files that earlier runs wrote, absolute: they are not inputs. */
  readonly results: ReadonlySet<string>;
  /**
   * For watched folders, the items of earlier plans: a problem then excludes its item, and the others run. Null for a plan
   * that is made once: a problem with a named input fails the whole plan.
   */
  readonly earlier: readonly PlacedItem[] | null;
  /** Checks that only this mode needs. */
  readonly check?: (items: readonly PlacedItem[]) => readonly InputProblem[];
  /** One decision for each item, in their order. */
  readonly decide: (items: readonly PlacedItem[]) => Promise<readonly Decision[]>;
}

type CheckedItem = PlacedItem & PlannedItem;

/** A plan with the problems found. Whether they fail it is up to the caller. */
interface CheckedPlan {
  /** Those of the shard. */
  readonly planned: readonly CheckedItem[];
  /** Those of all shards. */
  readonly items: readonly PlacedItem[];
  readonly problems: readonly InputProblem[];
  /** The lack of disk space; null if there is enough. */
  readonly shortage: InputProblem | null;
  /** Notes for the user: skipped files, names of the same file. */
  readonly notes: readonly string[];
}

/**
 * Collects and checks the inputs, decides about each item, and compares the decisions with the files on the disk. The inputs
 * of all shards are checked together, so that each shard finds the same conflicts and names; only its own items are decided.
 */
export async function makePlan(
  request: PlanRequest,
  delivery: Delivery,
  io: PlanIo,
  mode: PlanMode,
): Promise<CheckedPlan> {
  const isWatched = mode.earlier !== null;
  const isOwn = ({ item }: PlacedItem) => isInShard(item.input.name, delivery.shard);
  const problems: InputProblem[] = [...request.problems];
  const collection = await collect(request, io, problems);
  const files = collection.candidates.filter(
    ({ path, name, isNamed }) => path !== null && (isNamed || isCalledLikeInput(request.kind, name)),
  ).length;
  if (files > 0) io.onRead?.(files);
  const place = { delivery, results: mode.results, isWatched };
  const found = await planItems(request, collection.candidates, place, io, problems);
  const conflicts = await findConflicts(found.items, request, io, mode);
  const others = new Set(found.items.filter((placed) => !isOwn(placed)).map(({ item }) => item.label));
  // Without a plan that fails as a whole, each problem is reported by the shard of its item.
  problems.push(...conflicts.filter(({ pointer }) => !isWatched || !others.has(pointer)));
  const excluded = new Set(isWatched ? conflicts.map(({ pointer }) => pointer) : []);
  const all = found.items.filter(({ item }) => !excluded.has(item.label));
  const items = all.filter(isOwn);
  const decisions = await mode.decide(items);
  const planned: CheckedItem[] = [];
  for (const [position, placed] of items.entries()) {
    const { label } = placed.item;
    const decision = decisions[position] ?? { step: 'new', after: null };
    const settled = await settleItem(placed, decision, delivery);
    if (isWatched) {
      problems.push(...settled.problems.map((problem) => describeFor(label, problem)));
      if (settled.problems.length === 0) planned.push({ ...placed, decision: settled.decision });
    } else if (placed.isNamed || settled.problems.length === 0) {
      problems.push(...settled.problems);
      planned.push({ ...placed, decision: settled.decision });
    } else {
      const detail = joinProblems(settled.problems, label);
      planned.push({ ...placed, decision: { step: 'unusable', detail } });
    }
  }
  const shortage = await checkSpace(planned, delivery, io);
  return { planned, items: all, problems, shortage, notes: [...collection.notes, ...found.notes] };
}

/** Conflicts of items with each other and with inputs. An item that fails on this machine writes nothing. */
async function findConflicts(
  items: readonly PlacedItem[],
  { operands, options }: PlanRequest,
  { cwd }: PlanIo,
  { earlier, check }: PlanMode,
): Promise<readonly InputProblem[]> {
  const all = [...withoutReplaced(earlier ?? [], items), ...items];
  const isWriting = ({ item }: PlacedItem) => item.input.type !== 'unusable';
  const claims = all
    .filter(isWriting)
    .flatMap(({ item: { label }, claims }) => claims.map((path): Claim => ({ label, path })));
  const written = items
    .filter(isWriting)
    .flatMap(({ item: { label }, paths, claims }) =>
      (paths ?? claims).map((path): Claim => ({ label, path })),
    );
  const files = all.flatMap(({ item }) => fileOf(item.input)?.path ?? []);
  const inputs = createInputs([...namedPaths(cwd, operands, options), ...files]);
  return [
    ...findDuplicateItems(all.map(({ item }) => item)),
    ...(check?.(items) ?? []),
    ...findClashes(claims),
    ...(await findOverwrittenInputs(written, inputs.find)),
  ];
}

/** Earlier items without those whose file has changed and is planned again. */
function withoutReplaced(
  earlier: readonly PlacedItem[],
  items: readonly PlacedItem[],
): readonly PlacedItem[] {
  const byKey = new Map(items.map(({ item }) => [item.key, item]));
  return earlier.filter(({ item }) => {
    const again = byKey.get(item.key);
    return again === undefined || fileOf(again.input)?.path !== fileOf(item.input)?.path;
  });
}

/** A problem with a result, reported for its item. */
function describeFor(label: string, { pointer, detail }: InputProblem): InputProblem {
  return pointer === label ? { pointer, detail } : { pointer: label, detail: `${pointer} ${detail}` };
}

function decideFrom({ recorded, choices }: History): PlanMode['decide'] {
  return async (placed) => {
    const items = placed.map(({ item }) => item);
    return decideItems(items, withRenamed(recorded, await findRenamed(items, recorded, choices)), choices);
  };
}

/**
 * The plan of a job command.
 * @throws Failure of category usage that lists all problems, or disk if only space is missing
 */
export async function planBatch(request: PlanRequest, io: PlanIo, history: History): Promise<BatchPlan> {
  const { kind, options } = request;
  const delivery = readDelivery(kind, options, io);
  const { planned, items, problems, shortage, notes } = await makePlan(request, delivery, io, {
    results: new Set([
      ...recordedResults(history.recorded, delivery.folder),
      ...(history.otherResults ?? []),
    ]),
    earlier: null,
    decide: decideFrom(history),
  });
  if (problems.length > 0 || shortage !== null) throw unusableInputFailure(problems, shortage);
  return {
    kind,
    planned,
    total: items.length,
    delivery,
    notes: [...notes, ...describePreparations(planned)],
  };
}

/** A plan for files that arrived in watched folders. */
export interface WatchPlan {
  readonly planned: readonly PlannedItem[];
  /** Files that cannot be used, each with the reason. */
  readonly excluded: readonly InputProblem[];
  readonly notes: readonly string[];
}

export interface WatchPlanner {
  readonly delivery: Delivery;
  /** The requests for each file. */
  readonly requests: readonly PlannedRequest[];
  /** Plans for these files, absolute, and no others. @throws Failure (`disk`) if there is no room for their results */
  plan(paths: ReadonlySet<string>, history: History): Promise<WatchPlan>;
}

/** Results are outside the watched folders. */
const NO_RESULTS: ReadonlySet<string> = new Set();

/**
 * Makes the plans for watched folders, one after the other. Each knows the earlier ones.
 * @param request whose operands are the folders
 * @throws Failure (`usage`) for options with which no file could be planned
 */
export function createWatchPlanner(request: PlanRequest, io: PlanIo): WatchPlanner {
  const delivery = readDelivery(request.kind, request.options, io);
  const requests = checkOptions(request, delivery);
  const earlier = new Map<string, PlacedItem>();
  return {
    delivery,
    requests,
    async plan(paths, history) {
      const isWanted = ({ path }: { path: string | null }) => path !== null && paths.has(path);
      const { planned, items, problems, shortage } = await makePlan({ ...request, isWanted }, delivery, io, {
        results: NO_RESULTS,
        earlier: [...earlier.values()],
        decide: decideFrom(history),
      });
      if (shortage !== null) throw diskFullFailure(shortage);
      for (const placed of items) earlier.set(placed.item.key, placed);
      return { planned, excluded: problems, notes: describePreparations(planned) };
    },
  };
}

/** Reports problems that every file would have before the first file arrives. */
function checkOptions(
  { kind, body, options, problems: before }: PlanRequest,
  delivery: Delivery,
): readonly PlannedRequest[] {
  const problems = [...before];
  const requests = buildRequests(kind, body, options, problems);
  if (problems.length > 0) throw unusableInputFailure(problems, null);
  const any = { type: 'upload', label: 'any', stem: 'any', name: 'any', id: 'any' } as const;
  for (const each of requests) resultPaths(createItem(kind, any, each), delivery);
  return requests;
}

function diskFullFailure({ pointer, detail }: InputProblem): Failure {
  return diskFailure(
    'DISK_FULL',
    `${pointer} ${detail}`,
    'Free some space, then run the same command again to continue.',
  );
}
