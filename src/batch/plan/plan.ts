/**
 * The two halves of a plan: the items of a command, checked as far as possible without records and service, and the decision
 * about each of them. Sends and writes nothing.
 */

import { diskFailure, type Failure } from '../../base/failure.ts';
import { createInputs } from '../../base/find-input.ts';
import { type InputProblem, unusableInputFailure } from '../input.ts';
import { namedPaths } from '../inputs/candidate.ts';
import { collectInputs } from '../inputs/collect.ts';
import {
  type Claim,
  type Delivery,
  findClashes,
  findOverwrittenInputs,
  readDelivery,
  resultPaths,
} from '../inputs/delivery.ts';
import { createItem, fileOf, findDuplicateItems } from '../inputs/items.ts';
import { type PlacedItem, planItems } from '../inputs/plan-items.ts';
import type { PlanIo, PlanRequest } from '../inputs/plan-request.ts';
import { buildRequests, type PlannedRequest } from '../inputs/requests.ts';
import { isInShard } from '../records/shard.ts';
import type { BatchPlan, PlannedItem } from './batch-plan.ts';
import { decideItems, type RenamedRecord, settleItems } from './decide-items.ts';
import type { Choices, Recorded } from './decision.ts';
import { describePreparations } from './describe-preparations.ts';
import { checkSpace } from './disk-space.ts';

interface Surroundings {
  /** Files that earlier runs wrote, absolute: they are not inputs. */
  readonly results: ReadonlySet<string>;
  /**
   * For watched folders, the items of earlier plans: a problem then excludes its item, and the others run. Null for a plan
   * that is made once: a problem with a named input fails the whole plan.
   */
  readonly earlier: readonly PlacedItem[] | null;
  /** Checks that only this command needs. */
  readonly check?: (items: readonly PlacedItem[]) => readonly InputProblem[];
}

/** The items of a command. */
export interface CollectedItems {
  /** Those of the shard. */
  readonly items: readonly PlacedItem[];
  /** Those of all shards. */
  readonly all: readonly PlacedItem[];
  readonly delivery: Delivery;
  /** Notes for the user: skipped files, names of the same file. */
  readonly notes: readonly string[];
}

/**
 * Collects and checks the inputs. Those of all shards are checked together, so that each shard finds the same conflicts and
 * names.
 */
async function collectItems(
  request: PlanRequest,
  delivery: Delivery,
  io: PlanIo,
  surroundings: Surroundings,
): Promise<CollectedItems & { readonly problems: readonly InputProblem[] }> {
  const isWatched = surroundings.earlier !== null;
  const isOwn = ({ item }: PlacedItem) => isInShard(item.input.name, delivery.shard);
  const problems: InputProblem[] = [...request.problems];
  const collection = await collectInputs(request, io, problems);
  const place = { delivery, results: surroundings.results, isWatched };
  const found = await planItems(request, collection.candidates, place, io, problems);
  const conflicts = await findConflicts(found.items, request, io, surroundings);
  const others = new Set(found.items.filter((placed) => !isOwn(placed)).map(({ item }) => item.label));
  // Without a plan that fails as a whole, each problem is reported by the shard of its item.
  problems.push(...conflicts.filter(({ pointer }) => !isWatched || !others.has(pointer)));
  const excluded = new Set(isWatched ? conflicts.map(({ pointer }) => pointer) : []);
  const all = found.items.filter(({ item }) => !excluded.has(item.label));
  const notes = [...collection.notes, ...found.notes];
  return { items: all.filter(isOwn), all, delivery, problems, notes };
}

/** Conflicts of items with each other and with inputs. An item that fails on this machine writes nothing. */
async function findConflicts(
  items: readonly PlacedItem[],
  { operands, options }: PlanRequest,
  { cwd }: PlanIo,
  { earlier, check }: Surroundings,
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

/**
 * The items of a command.
 * @param results files that earlier runs wrote, absolute: they are not inputs
 * @param check finds problems that only this command has
 * @throws Failure (`usage`) that lists all problems
 */
export async function collectBatch(
  request: PlanRequest,
  io: PlanIo,
  results: ReadonlySet<string>,
  check?: (items: readonly PlacedItem[]) => readonly InputProblem[],
): Promise<CollectedItems> {
  const delivery = readDelivery(request.kind, request.options, io);
  const surroundings = { results, earlier: null, ...(check === undefined ? {} : { check }) };
  const { problems, ...collected } = await collectItems(request, delivery, io, surroundings);
  if (problems.length > 0) throw unusableInputFailure(problems, null);
  return collected;
}

/**
 * Decides about each item of a command, and compares the decisions with the files on the disk.
 * @throws Failure: `usage` that lists all conflicts, `disk` if only space is missing
 */
export async function decideBatch(
  { items, delivery }: Pick<CollectedItems, 'items' | 'delivery'>,
  recorded: Recorded,
  choices: Choices,
  io: Pick<PlanIo, 'freeBytes'>,
): Promise<BatchPlan> {
  const decided = await decideItems(
    items.map(({ item }) => item),
    recorded,
    choices,
  );
  const { planned, problems } = await settleItems(items, decided.decisions, delivery);
  const shortage = await checkSpace(planned, delivery, io);
  if (problems.length > 0 || shortage !== null) throw unusableInputFailure(problems, shortage);
  return { planned, notes: describePreparations(planned), renamed: decided.renamed };
}

/** A plan for files that arrived in watched folders. */
export interface WatchPlan {
  readonly planned: readonly PlannedItem[];
  /** Files that cannot be used, each with the reason. */
  readonly excluded: readonly InputProblem[];
  readonly notes: readonly string[];
  /** See `DecidedItems`. */
  readonly renamed: readonly RenamedRecord[];
}

export interface WatchPlanner {
  readonly delivery: Delivery;
  /** The requests for each file. */
  readonly requests: readonly PlannedRequest[];
  /** Plans for these files, absolute, and no others. @throws Failure (`disk`) if there is no room for their results */
  plan(paths: ReadonlySet<string>, recorded: Recorded, choices: Choices): Promise<WatchPlan>;
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
    async plan(paths, recorded, choices) {
      const isWanted = ({ path }: { path: string | null }) => path !== null && paths.has(path);
      const surroundings = { results: NO_RESULTS, earlier: [...earlier.values()] };
      const found = await collectItems({ ...request, isWanted }, delivery, io, surroundings);
      const items = found.items.map(({ item }) => item);
      const { decisions, renamed } = await decideItems(items, recorded, choices);
      const { planned, problems } = await settleItems(found.items, decisions, delivery, true);
      const shortage = await checkSpace(planned, delivery, io);
      if (shortage !== null) throw diskFullFailure(shortage);
      for (const placed of found.all) earlier.set(placed.item.key, placed);
      const excluded = [...found.problems, ...problems];
      return { planned, excluded, notes: describePreparations(planned), renamed };
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
