/** Paths of files in the records of a folder: relative on the disk, so that the folder can be moved; absolute elsewhere. */
import { resolve } from 'node:path';
import type { LogRecord } from '../journal/record-line.ts';
import { nameBelow } from './plan/candidate.ts';

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
