/** Records of a log as those who wrote them know them. */
import * as v from 'valibot';
import type { LogRecord } from './record-line.ts';

/** A schema whose records have a literal `type`. */
export type RecordSchema = v.GenericSchema<unknown, { readonly type: string }> & {
  readonly entries: { readonly type: { readonly literal: string } };
};

/**
 * Null for a record of another type, or of another version of this program. The type is compared first: nearly all records
 * of a log are of other types, and parsing them to report an error is slow.
 */
export function readRecord<T extends RecordSchema>(schema: T, record: LogRecord): v.InferOutput<T> | null {
  if (record.type !== schema.entries.type.literal) return null;
  const parsed = v.safeParse(schema, record);
  return parsed.success ? parsed.output : null;
}
