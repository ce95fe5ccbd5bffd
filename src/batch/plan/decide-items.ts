/**
 * Decides what each item still needs, by the records of the folder and the files on the disk. Runs decide with
 * the records that they have locked; --dry-run decides with those that it has read.
 */
import { lstat, stat } from 'node:fs/promises';
import { mapConcurrently } from '../../base/together.ts';
import { findVersion } from '../deliver/result-file.ts';
import { type InputProblem, isSplit, joinProblems } from '../input.ts';
import type { Delivery } from '../inputs/delivery.ts';
import { pathExists } from '../inputs/file-status.ts';
import type { PlacedItem } from '../inputs/plan-items.ts';
import type { BatchItem } from '../item.ts';
import { type ForgottenRecord, forgetItems } from '../records/attempts.ts';
import { createItemFacts, type ItemFacts, sampleOf, trackOf } from '../records/item-facts.ts';
import { keyWithName, newestAttempt, ownFiles } from '../records/item-key.ts';
import type { PlannedItem } from './batch-plan.ts';
import {
  type Choices,
  type Decision,
  decideItem,
  describeOptions,
  findChange,
  needsHash,
  type Recorded,
} from './decision.ts';
import { decideGathered } from './gathered.ts';
import { decideOtherLines } from './other-lines.ts';
import { decideRedub } from './redub.ts';
import { decisionFailure, isRefused } from './refusal.ts';

/** Disks answer a few concurrent requests faster than one after the other. */
const WIDTH = 4;

export interface DecidedItems {
  /** One for each item, in their order. */
  readonly decisions: readonly Decision[];
  /** Gives renamed inputs the jobs of their earlier names. A run must record them before the items start. */
  readonly renamed: readonly RenamedRecord[];
}

/** Decides about all items. A file is read only if nothing else shows whether it changed. */
export async function decideItems(
  items: readonly BatchItem[],
  recorded: Recorded,
  choices: Choices,
): Promise<DecidedItems> {
  const renamed = await findRenamed(items, recorded, choices);
  return { decisions: await decideAll(items, withRenamed(recorded, renamed), choices), renamed };
}

async function decideAll(
  items: readonly BatchItem[],
  recorded: Recorded,
  choices: Choices,
): Promise<readonly Decision[]> {
  const { hashFile, redub: _, otherLines: __, ...rest } = choices;
  const touched = rest.fresh ? [] : items.filter((item) => needsHash(item, recorded));
  const hashes = await hashInputs(touched, hashFile);
  const paths = items.flatMap((item) => resultPathsOf(item, recorded));
  const sizes = new Map<string, number>();
  await mapConcurrently(paths, WIDTH, async (path) => {
    const found = await stat(path).catch(() => null);
    if (found !== null) sizes.set(path, found.size);
  });
  const outdated = rest.fresh ? new Set<string>() : await findOutdated(items, recorded, { hashes, sizes });
  const decisions = items.map((item) => decideItem(item, recorded, { ...rest, hashes, sizes, outdated }));
  const byKey = new Map(items.map(({ key }, at) => [key, decisions[at] ?? NEW]));
  return mapConcurrently([...items.entries()], WIDTH, async ([at, item]) => {
    if (item.gathers !== undefined) return decideGathered(item, byKey, recorded, rest);
    const decision = decisions[at] ?? NEW;
    const remembered = await decideOtherLines(item, decision, recorded, choices);
    return decideRedub(item, remembered, recorded, choices);
  });
}

const NEW: Decision = { step: 'new', after: null };

/** Keys of items whose input file has changed. An edited result is the work of the user, so its item is left out. */
async function findOutdated(
  items: readonly BatchItem[],
  recorded: Recorded,
  { hashes, sizes }: Pick<Parameters<typeof decideItem>[2], 'hashes' | 'sizes'>,
): Promise<ReadonlySet<string>> {
  const outdated = new Set<string>();
  const changed = items.filter((item) => findChange(item, recorded, { hashes })?.what === 'file');
  await mapConcurrently(changed, WIDTH, async ({ key }) => {
    const files = ownFiles(key, recorded);
    const there = Map.groupBy(files, ({ path }) => path);
    for (const [path, versions] of there) {
      if (sizes.has(path) && (await findVersion(path, versions)) === null) return;
    }
    outdated.add(key);
  });
  return outdated;
}

/** Hashes by item key. A file with several target languages is read once. */
async function hashInputs(
  items: readonly BatchItem[],
  hashFile: Choices['hashFile'],
): Promise<ReadonlyMap<string, string>> {
  const byPath = Map.groupBy(items, ({ input }) => (input.type === 'file' ? input.path : ''));
  const hashes = new Map<string, string>();
  await mapConcurrently([...byPath], WIDTH, async ([path, sharing]) => {
    const sha256 = await hashFile(path);
    for (const { key } of sharing) hashes.set(key, sha256);
  });
  return hashes;
}

function resultPathsOf({ key }: BatchItem, recorded: Recorded): readonly string[] {
  const delivered = newestAttempt(key, recorded.attempts)?.files ?? [];
  return [...delivered, ...ownFiles(key, recorded)].map(({ path }) => path);
}

/** The records that give an item the jobs of the one with its earlier name. */
export type RenamedRecord = ForgottenRecord | ItemFacts;

/**
 * Finds items without history whose content had another name, with the same language and options. The file with that name is
 * gone: of two files with the same content, each has a job of its own.
 * @returns the records for the journal, in their order
 */
async function findRenamed(
  items: readonly BatchItem[],
  recorded: Recorded,
  { fresh, now, hashFile }: Pick<Choices, 'fresh' | 'now' | 'hashFile'>,
): Promise<readonly RenamedRecord[]> {
  const { attempts, facts } = recorded;
  const current = new Set(items.map(({ key }) => key));
  const left = [...facts.values()].filter(
    ({ item, size, path }) =>
      size !== null && path !== null && attempts.byItem.has(item) && !current.has(item),
  );
  if (fresh || left.length === 0) return [];
  const bySize = Map.groupBy(left, ({ size }) => size);
  const hashes = new Map<string, Promise<string>>();
  const taken = new Set<string>();
  const records: RenamedRecord[] = [];
  for (const item of items) {
    const { input } = item;
    const file = input.type === 'lines' ? input.file : input.type === 'file' ? input : null;
    if (file === null || isSplit(input) || attempts.byItem.has(item.key)) continue;
    for (const known of bySize.get(file.bytes) ?? []) {
      const isAlike =
        keyWithName(known.item, input.name) === item.key && isSameRequest(known, item, attempts);
      if (!isAlike || taken.has(known.item) || (await pathExists(known.path ?? ''))) continue;
      const own =
        hashes.get(file.path) ??
        (input.type === 'lines' ? Promise.resolve(input.sha256) : hashFile(file.path));
      hashes.set(file.path, own);
      const before = known.sha256 ?? newestAttempt(known.item, attempts)?.input_sha256;
      const sha256 = await own;
      if (before !== sha256) continue;
      taken.add(known.item);
      const at = new Date(now).toISOString();
      records.push(
        { type: 'item_forgotten', at, item: known.item, as: item.key },
        createItemFacts(item, sha256),
      );
      break;
    }
  }
  return records;
}

function isSameRequest(known: ItemFacts, item: BatchItem, attempts: Recorded['attempts']): boolean {
  return (
    known.audio_track === trackOf(item) &&
    (known.sample_seconds ?? null) === sampleOf(item) &&
    describeOptions(item, known.fields, newestAttempt(known.item, attempts)).length === 0
  );
}

/** The content of the journal with these records. */
function withRenamed(recorded: Recorded, records: readonly RenamedRecord[]): Recorded {
  if (records.length === 0) return recorded;
  const moves = records.flatMap((record) => (record.type === 'item_forgotten' ? [record] : []));
  const facts = new Map(recorded.facts);
  for (const record of records) if (record.type === 'item_facts') facts.set(record.item, record);
  return { ...recorded, attempts: forgetItems(recorded.attempts, moves), facts };
}

export type DecidedItem = PlacedItem & PlannedItem;

/**
 * Compares the decisions with the files in the folder of the results. A file of a folder that conflicts fails alone.
 * @param isWatched in a watched folder, any item that conflicts is left out
 */
export async function settleItems(
  items: readonly PlacedItem[],
  decisions: readonly Decision[],
  delivery: Delivery,
  isWatched = false,
): Promise<{ readonly planned: readonly DecidedItem[]; readonly problems: readonly InputProblem[] }> {
  const planned: DecidedItem[] = [];
  const problems: InputProblem[] = [];
  for (const [position, placed] of items.entries()) {
    const { label } = placed.item;
    const settled = await settleItem(placed, decisions[position] ?? NEW, delivery);
    if (isWatched) problems.push(...settled.problems.map((problem) => describeFor(label, problem)));
    else if (placed.isNamed) problems.push(...settled.problems);
    if (settled.problems.length === 0 || (placed.isNamed && !isWatched)) {
      planned.push({ ...placed, decision: settled.decision });
    } else if (!isWatched) {
      const detail = joinProblems(settled.problems, label);
      // What is refused by the records says so itself.
      const decision = isRefused(settled.decision)
        ? settled.decision
        : ({ step: 'unusable', detail } as const);
      planned.push({ ...placed, decision });
    }
  }
  return { planned, problems };
}

/** A problem with a result, reported for its item. */
function describeFor(label: string, { pointer, detail }: InputProblem): InputProblem {
  return pointer === label ? { pointer, detail } : { pointer: label, detail: `${pointer} ${detail}` };
}

/** A decision compared with the files in the output folder, and the conflicts found. */
interface SettledDecision {
  readonly decision: Decision;
  readonly problems: readonly InputProblem[];
}

/** The last decision about an item. Existing files and earlier jobs may conflict with it. */
async function settleItem(
  { item, paths }: PlacedItem,
  decision: Decision,
  { existing }: Delivery,
): Promise<SettledDecision> {
  if (decision.step === 'done' || decision.step === 'continue') return { decision, problems: [] };
  const blocked = decision.step === 'new' ? await findBlocked(paths ?? [], existing) : [];
  if (blocked.length > 0) return { decision, problems: blocked };
  const there: string[] = [];
  for (const path of paths ?? []) if (await pathExists(path)) there.push(path);
  const replaces = decision.step === 'new' ? (decision.replaces ?? []) : [];
  const isThere = there.length > 0 && there.length === paths?.length;
  if (existing === 'skip' && isThere)
    return { decision: { step: 'done', before: 'exists', jobId: null, files: [] }, problems: [] };
  const refused: string[] = [];
  for (const path of existing === 'refuse' ? there : []) {
    if ((await findVersion(path, replaces)) === null) refused.push(path);
  }
  return { decision, problems: conflictsOf(item, decision, refused) };
}

/** Names that a finished file could not get after the job was paid: those of folders, and of links that look free. */
async function findBlocked(
  paths: readonly string[],
  existing: Delivery['existing'],
): Promise<readonly InputProblem[]> {
  const problems: InputProblem[] = [];
  for (const path of paths) {
    const isLink = (await lstat(path).catch(() => null))?.isSymbolicLink() === true;
    // A replaced link is gone, wherever it led to.
    if (isLink && existing === 'replace') continue;
    const found = await stat(path).catch(() => null);
    const detail = found?.isDirectory() ? FOLDER_ADVICE : isLink && found === null ? LINK_ADVICE : null;
    if (detail !== null) problems.push({ pointer: path, detail });
  }
  return problems;
}

const FOLDER_ADVICE =
  'is a folder, so the result cannot get this name; use --name, or --out for another folder';
const LINK_ADVICE = 'is a link to a file that does not exist; remove the link, or replace it with --clobber';

/** @param refused existing files that must not be replaced */
function conflictsOf(
  { label }: BatchItem,
  decision: Decision,
  refused: readonly string[],
): readonly InputProblem[] {
  switch (decision.step) {
    case 'changed':
    case 'edited': {
      const { message, facts } = decisionFailure(decision);
      return [{ pointer: label, detail: `${message}. ${facts.advice}` }];
    }
    case 'new': {
      const detail = 'exists; --clobber replaces it, --skip-existing skips it, --out chooses another folder';
      return refused.map((pointer) => ({ pointer, detail }));
    }
    default:
      return [];
  }
}
