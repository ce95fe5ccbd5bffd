/** Decisions about all items, with what only the disk can tell. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { BatchItem } from '../item.ts';
import { type Decision, decide, needsHash, type Recorded, type Situation } from './decision.ts';
import { newestIntent } from './newest-intent.ts';
import { mapSideBySide } from './side-by-side.ts';

/** Disks answer a few at once faster than one after the other. */
const WIDTH = 4;

export type Choices = Pick<Situation, 'now' | 'fresh' | 'replace' | 'retryFailed'> & {
  /** SHA-256 of a file, lower-case hex. */
  readonly hashFile: (path: string) => Promise<string>;
};

/** One decision for each item, in their order; a file is read only where nothing else can tell whether it has changed. */
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
  await mapSideBySide(paths, WIDTH, async (path) => {
    const found = await stat(path).catch(() => null);
    if (found !== null) sizes.set(path, found.size);
  });
  return items.map((item) => decide(item, recorded, { ...rest, hashes, sizes }));
}

/** By item key; a file that stands for several languages is read once. */
async function hashInputs(
  items: readonly BatchItem[],
  hashFile: Choices['hashFile'],
): Promise<ReadonlyMap<string, string>> {
  const byPath = Map.groupBy(items, ({ input }) => (input.type === 'file' ? input.path : ''));
  const hashes = new Map<string, string>();
  await mapSideBySide([...byPath], WIDTH, async ([path, sharing]) => {
    const sha256 = await hashFile(path);
    for (const { key } of sharing) hashes.set(key, sha256);
  });
  return hashes;
}

function downloadedPaths({ key }: BatchItem, { intents }: Recorded): readonly string[] {
  const outcome = newestIntent(key, intents)?.outcome;
  return outcome?.phase === 'downloaded' ? outcome.record.files.map(({ path }) => path) : [];
}

/** Every file that the journal knows as a result, absolute. */
export function recordedResults({ intents }: Recorded, folder: string): ReadonlySet<string> {
  const files = [...intents.byKey.values()].flatMap(({ outcome }) =>
    outcome.phase === 'downloaded' ? outcome.record.files : [],
  );
  return new Set(files.map(({ path }) => resolve(folder, path)));
}
