/** The records in an output folder: their locations. */
import { lstat, mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../base/folder.ts';
import { errorCode, onDisk } from '../../base/system-error.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import type { StoredFile } from './attempts.ts';
import { tooOldFailure } from './database.ts';
import type { Shard } from './shard.ts';

/** Beside the results, so that it moves with them. A folder that contains it is an output folder. */
export const RECORD_FOLDER = '.vloc';

/** A batch in an output folder, or one shard of it: each has records, a lock and intermediate files of its own. */
export interface BatchPlace {
  /** Absolute. */
  readonly folder: string;
  readonly shard?: Shard | undefined;
}

/** The folder of the records. Shards have one each, so that they can run at the same time. */
export function recordFolder({ folder, shard }: BatchPlace): string {
  const own = shard === undefined ? [] : [`shard-${shard.index}-of-${shard.count}`];
  return join(folder, RECORD_FOLDER, ...own);
}

/** Unfinished files of the run that has the batch open. */
export function scratchFolder(place: BatchPlace): string {
  return join(recordFolder(place), 'work');
}

/** Makes an empty folder in it, which the next run removes if this one is killed. @throws Failure (`disk`) */
export async function makeScratch(place: BatchPlace): Promise<string> {
  const folder = scratchFolder(place);
  return onDisk(folder, async () => {
    await makeFolder(folder, 0o700);
    return mkdtemp(join(folder, 'made-'));
  });
}

export function recordsPath(place: BatchPlace): string {
  return join(recordFolder(place), 'records.db');
}

/**
 * Checks that the folder has no records of a version before the first release, which this one cannot read.
 * @throws Failure (`usage`, RECORDS_OLD)
 */
export async function refuseOldRecords(place: BatchPlace): Promise<void> {
  const old = join(recordFolder(place), 'journal');
  if (!(await isThere(old)) || (await isThere(recordsPath(place)))) return;
  throw tooOldFailure(old);
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

/** The lock: only one process works on a shard, or on a batch without shards. */
export function lockPath(place: BatchPlace): string {
  return join(recordFolder(place), 'lock');
}

const SHARD_FOLDER = /^shard-(\d+)-of-(\d+)$/;

/** All places of a folder, first the one without a shard, which may be empty. @throws Failure (`disk`) */
export async function listPlaces(folder: string): Promise<readonly BatchPlace[]> {
  const names = await onDisk(folder, () => readNames(join(folder, RECORD_FOLDER)));
  const shards = names.flatMap((name): Shard[] => {
    const [, index, count] = SHARD_FOLDER.exec(name) ?? [];
    return index === undefined ? [] : [{ index: Number(index), count: Number(count) }];
  });
  shards.sort((one, other) => one.count - other.count || one.index - other.index);
  return [{ folder }, ...shards.map((shard) => ({ folder, shard }))];
}

async function readNames(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return [];
    throw error;
  }
}

/**
 * Result files from the record with the names of their assets; null if the kind has no such asset. A file without a
 * name has the asset of its place.
 */
export function nameParts(
  kind: JobKind,
  files: readonly StoredFile[],
): readonly (Omit<StoredFile, 'asset'> & { readonly asset: string | null })[] {
  const parts: [string, ResultPart][] = Object.entries(KINDS[kind].result);
  const assets = parts.flatMap(([name, { type }]) => (type === 'asset' ? [name] : []));
  return files.map((file, place) => ({ ...file, asset: file.asset ?? assets[place] ?? null }));
}
