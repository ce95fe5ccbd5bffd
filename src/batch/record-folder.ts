/** The journal in an output folder: its location, the paths in its records, and files of earlier versions. */
import { join, resolve } from 'node:path';
import type { StoredFile } from '../journal/next-step.ts';
import type { LogRecord } from '../journal/record-line.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../protocol/kinds.ts';
import { nameBelow } from './plan/candidate.ts';

/** Beside the results, so that it moves with them. A folder that contains it is an output folder. */
export const RECORD_FOLDER = '.vloc';

/** The journal of an output folder. */
export function journalPath(folder: string): string {
  return join(folder, RECORD_FOLDER, 'journal');
}

/** The lock of an output folder: only one process works in it. */
export function lockPath(folder: string): string {
  return join(folder, RECORD_FOLDER, 'lock');
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
