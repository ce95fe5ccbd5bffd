/** The journals in an output folder: their locations, the paths in their records, and files of earlier versions. */
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorCode, onDisk } from '../base/system-error.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../protocol/kinds.ts';
import { nameBelow } from './plan/candidate.ts';
import type { StoredFile } from './records/next-step.ts';
import type { LogRecord } from './records/record-line.ts';
import type { Shard } from './shard.ts';

/** Beside the results, so that it moves with them. A folder that contains it is an output folder. */
export const RECORD_FOLDER = '.vloc';

/** A batch in an output folder, or one shard of it: each has a journal, a lock and intermediate files of its own. */
export interface BatchPlace {
  /** Absolute. */
  readonly folder: string;
  readonly shard?: Shard | undefined;
}

/** The folder of the journal. Shards have one each, so that they can run at the same time. */
export function recordFolder({ folder, shard }: BatchPlace): string {
  const own = shard === undefined ? [] : [`shard-${shard.index}-of-${shard.count}`];
  return join(folder, RECORD_FOLDER, ...own);
}

export function journalPath(place: BatchPlace): string {
  return join(recordFolder(place), 'journal');
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

/** The record as it is written: paths in the folder become relative, `/` between folders, so that it can be moved. */
export function withPathsFrom(folder: string, record: LogRecord): LogRecord {
  return mapPaths(record, (path) => nameBelow(folder, path) ?? path);
}

/** The record as it is used. Earlier versions wrote absolute paths, which stay as they are. */
export function withAbsolutePaths(folder: string, record: LogRecord): LogRecord {
  return mapPaths(record, (path) => resolve(folder, path));
}

/** Maps the paths in the `files` of a record and the `path` of item facts. The `path` of an intent is not a file. */
function mapPaths(record: LogRecord, map: (path: string) => string): LogRecord {
  if (Array.isArray(record.files))
    return { ...record, files: record.files.map((file) => mapPath(file, map)) };
  return record.type === 'item_facts' ? mapPath(record, map) : record;
}

function mapPath<T>(holder: T, map: (path: string) => string): T {
  if (typeof holder !== 'object' || holder === null || !('path' in holder)) return holder;
  return typeof holder.path === 'string' ? { ...holder, path: map(holder.path) } : holder;
}

/**
 * Result files from the journal with the names of their assets; null if the kind has no such asset. Earlier versions wrote
 * no names, but the files in the order of the assets.
 */
export function nameParts(
  kind: JobKind,
  files: readonly StoredFile[],
): readonly (Omit<StoredFile, 'asset'> & { readonly asset: string | null })[] {
  const parts: [string, ResultPart][] = Object.entries(KINDS[kind].result);
  const assets = parts.flatMap(([name, { type }]) => (type === 'asset' ? [name] : []));
  return files.map((file, place) => ({ ...file, asset: file.asset ?? assets[place] ?? null }));
}
