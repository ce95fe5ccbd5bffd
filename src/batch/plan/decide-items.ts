/** Decisions about items, compared with the files on the disk. */
import { lstat, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isAnyOf } from '../deliver/result-file.ts';
import type { BatchItem } from '../item.ts';
import { mapConcurrently } from '../limiter.ts';
import { type Choices, type Decision, decide, findChange, needsHash, type Recorded } from './decision.ts';
import type { Delivery } from './delivery.ts';
import { exists } from './file-status.ts';
import type { InputProblem } from './input.ts';
import { downloadedFiles } from './item-key.ts';
import type { PlacedItem } from './plan-items.ts';

/** Disks answer a few concurrent requests faster than one after the other. */
const WIDTH = 4;

/** One decision for each item, in their order. A file is read only if nothing else shows whether it changed. */
export async function decideItems(
  items: readonly BatchItem[],
  recorded: Recorded,
  choices: Choices,
): Promise<readonly Decision[]> {
  const { hashFile, ...rest } = choices;
  const touched = rest.fresh ? [] : items.filter((item) => needsHash(item, recorded));
  const hashes = await hashInputs(touched, hashFile);
  const paths = items.flatMap((item) => downloadedPaths(item, recorded));
  const sizes = new Map<string, number>();
  await mapConcurrently(paths, WIDTH, async (path) => {
    const found = await stat(path).catch(() => null);
    if (found !== null) sizes.set(path, found.size);
  });
  const outdated = rest.fresh ? new Set<string>() : await findOutdated(items, recorded, { hashes, sizes });
  return items.map((item) => decide(item, recorded, { ...rest, hashes, sizes, outdated }));
}

/** Keys of items whose input file has changed. An edited result is the work of the user, so its item is left out. */
async function findOutdated(
  items: readonly BatchItem[],
  recorded: Recorded,
  { hashes, sizes }: Pick<Parameters<typeof decide>[2], 'hashes' | 'sizes'>,
): Promise<ReadonlySet<string>> {
  const outdated = new Set<string>();
  const changed = items.filter((item) => findChange(item, recorded, { hashes })?.what === 'file');
  await mapConcurrently(changed, WIDTH, async ({ key }) => {
    const files = downloadedFiles(key, recorded.intents);
    const there = Map.groupBy(files, ({ path }) => path);
    for (const [path, versions] of there) {
      if (sizes.has(path) && !(await isAnyOf(path, versions))) return;
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

function downloadedPaths({ key }: BatchItem, { intents }: Recorded): readonly string[] {
  return downloadedFiles(key, intents).map(({ path }) => path);
}

/** All result files in the journal, absolute. */
export function recordedResults({ intents }: Pick<Recorded, 'intents'>, folder: string): ReadonlySet<string> {
  const files = [...intents.byKey.values()].flatMap(({ outcome }) =>
    outcome.phase === 'downloaded' ? outcome.record.files : [],
  );
  return new Set(files.map(({ path }) => resolve(folder, path)));
}

/** A decision compared with the files in the output folder, and the conflicts found. */
interface SettledDecision {
  readonly decision: Decision;
  readonly problems: readonly InputProblem[];
}

/** The last decision about an item. Existing files and earlier jobs may conflict with it. */
export async function settleItem(
  { item, paths }: PlacedItem,
  decision: Decision,
  { existing }: Delivery,
): Promise<SettledDecision> {
  if (decision.step === 'done' || decision.step === 'continue') return { decision, problems: [] };
  const blocked = decision.step === 'new' ? await findBlocked(paths ?? [], existing) : [];
  if (blocked.length > 0) return { decision, problems: blocked };
  const there: string[] = [];
  for (const path of paths ?? []) if (await exists(path)) there.push(path);
  const replaces = decision.step === 'new' ? (decision.replaces ?? []) : [];
  const isThere = there.length > 0 && there.length === paths?.length;
  if (existing === 'skip' && isThere)
    return { decision: { step: 'done', before: 'exists', jobId: null, files: [] }, problems: [] };
  const refused: string[] = [];
  for (const path of existing === 'refuse' ? there : []) {
    if (!(await isAnyOf(path, replaces))) refused.push(path);
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
      return [{ pointer: label, detail: describeChanged(decision) }];
    case 'edited': {
      const detail =
        'was changed since it was downloaded; --clobber fetches it again, --skip-existing keeps it';
      return [{ pointer: decision.path, detail }];
    }
    case 'new': {
      const detail = 'exists; --clobber replaces it, --skip-existing skips it, --out chooses another folder';
      return refused.map((pointer) => ({ pointer, detail }));
    }
    default:
      return [];
  }
}

function describeChanged({ what, changes }: Extract<Decision, { step: 'changed' }>): string {
  const how = changes.length === 0 ? '' : ` (${changes.join(', ')})`;
  if (what === 'tracks')
    return `the result lacks the requested original tracks, or has others${how}; --clobber fetches the result of the same job again, --skip-existing keeps the existing one`;
  const fix = '--clobber makes a new job and replaces the result, --skip-existing keeps the existing one';
  return `the ${what} changed since the job was made${how}; ${fix}`;
}
