/** Where a folder of results keeps its own record. */
import { join, resolve } from 'node:path';
import type { StoredFile } from '../journal/next-step.ts';
import type { LogRecord } from '../journal/record-line.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../protocol/kinds.ts';
import { nameBelow } from './plan/candidate.ts';

/** Beside the results, so that it goes where they go: where it stands, there are results. */
export const RECORD_FOLDER = '.vloc';

/** Where the journal of a folder of results lies. */
export function journalPath(folder: string): string {
  return join(folder, RECORD_FOLDER, 'journal');
}

/** Held by the only process that works in the folder. */
export function lockPath(folder: string): string {
  return join(folder, RECORD_FOLDER, 'lock');
}

/** The record as it is written: what lies below the folder by its way from there, `/` between folders. */
export function withPathsFrom(folder: string, record: LogRecord): LogRecord {
  return mapPaths(record, (path) => nameBelow(folder, path) ?? path);
}

/** The record as it is worked with. Those of earlier versions hold absolute paths, and keep them. */
export function withAbsolutePaths(folder: string, record: LogRecord): LogRecord {
  return mapPaths(record, (path) => resolve(folder, path));
}

/** Results are named in the `files` of a record, an input in the `path` of its facts; that of a call is none of a file. */
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
 * Files out of the journal with the names of their parts of the result; null where the kind has no such part. Earlier
 * versions wrote no names, and the files in the order of the parts.
 */
export function nameParts(
  kind: JobKind,
  files: readonly StoredFile[],
): readonly (Omit<StoredFile, 'asset'> & { readonly asset: string | null })[] {
  const parts: [string, ResultPart][] = Object.entries(KINDS[kind].result);
  const assets = parts.flatMap(([name, { type }]) => (type === 'asset' ? [name] : []));
  return files.map((file, place) => ({ ...file, asset: file.asset ?? assets[place] ?? null }));
}
