/** Records of a log as those who wrote them know them. */
import * as v from 'valibot';
import type { LogRecord } from './record-line.ts';

/** A schema whose records are told by their type. */
export type RecordSchema = v.GenericSchema<unknown, { readonly type: string }> & {
  readonly entries: { readonly type: { readonly literal: string } };
};

/**
 * Null for a record of another type, or of another version of this program. The type is looked at first: nearly all records
 * of a log are of other types, and a parser takes its time to say what is wrong with them.
 */
export function readRecord<T extends RecordSchema>(schema: T, record: LogRecord): v.InferOutput<T> | null {
  if (record.type !== schema.entries.type.literal) return null;
  const parsed = v.safeParse(schema, record);
  return parsed.success ? parsed.output : null;
}
