/** Journal records of prepared files, and of joined results. */
import * as v from 'valibot';
import { KEPT_TRACKS } from '../records/kept-tracks.ts';
import { type RecordSchema, readRecord } from '../records/read-record.ts';
import type { LogRecord } from '../records/record-line.ts';

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

/** Files made from one input, written when all are complete. A later run reuses them, or cuts at the same places. */
const prepared = v.object({
  type: v.literal('prepared'),
  /** SHA-256 of the input. */
  source: sha256,
  /** How they were made. */
  recipe: v.string(),
  /** Names in the folder of the preparation, in order. */
  files: v.array(v.object({ name: v.string(), bytes: v.number(), sha256, seconds: v.nullable(v.number()) })),
  split: v.unknown(),
});

/** Written before joined results get their names, so that a later run recognizes them. */
const joining = v.object({
  type: v.literal('joining'),
  /** Key of the item. */
  item: v.string(),
  /** See `digestMaking`. */
  made: v.string(),
  files: v.array(
    v.object({
      asset: v.string(),
      path: v.string(),
      sha256,
      size: v.number(),
      kept: v.optional(v.picklist(KEPT_TRACKS)),
    }),
  ),
});

type PreparedRecord = v.InferOutput<typeof prepared>;
type JoiningRecord = v.InferOutput<typeof joining>;

/** The newest record of the same preparation of the same bytes; null for none. */
export function findPrepared(
  records: readonly LogRecord[],
  source: string,
  recipe: string,
): PreparedRecord | null {
  return findLast(records, prepared, (record) => record.source === source && record.recipe === recipe);
}

/** The newest record of the item's joined results; null if they were never joined from these parts. */
export function findJoining(records: readonly LogRecord[], item: string, made: string): JoiningRecord | null {
  const newest = findLast(records, joining, (record) => record.item === item);
  return newest?.made === made ? newest : null;
}

function findLast<T extends RecordSchema>(
  records: readonly LogRecord[],
  schema: T,
  isWanted: (record: v.InferOutput<T>) => boolean,
): v.InferOutput<T> | null {
  for (const record of records.toReversed()) {
    const read = readRecord(schema, record);
    if (read !== null && isWanted(read)) return read;
  }
  return null;
}
