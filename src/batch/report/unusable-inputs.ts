/** Items whose file cannot be used, as this machine or the service found: what the journal keeps of them. */
import * as v from 'valibot';
import { readRecord } from '../../journal/read-record.ts';
import type { LogRecord } from '../../journal/record-line.ts';
import type { BatchItem } from '../item.ts';
import { readPartKey } from '../plan/part-key.ts';

const unusableInput = v.object({
  type: v.literal('unusable_input'),
  /** RFC 3339. */
  at: v.pipe(v.string(), v.isoTimestamp()),
  /** Key of the item. */
  item: v.string(),
  label: v.string(),
  /** Why, and how to fix it. */
  detail: v.string(),
  /** Missing for what was found on this machine. */
  code: v.optional(v.string()),
});

export type UnusableRecord = v.InferOutput<typeof unusableInput>;

/** @param atMs milliseconds since 1970  @param code of the service, where that refused the file */
export function createUnusableRecord(
  { key, label }: Pick<BatchItem, 'key' | 'label'>,
  detail: string,
  atMs: number,
  code?: string,
): UnusableRecord {
  const record = {
    type: 'unusable_input',
    at: new Date(atMs).toISOString(),
    item: key,
    label,
    detail,
  } as const;
  return code === undefined ? record : { ...record, code };
}

/** The items that stand so, by key: a later run of their command, or a later call for them, has looked at them again. */
export function foldUnusable(records: readonly LogRecord[]): ReadonlyMap<string, UnusableRecord> {
  const unusable = new Map<string, UnusableRecord>();
  for (const record of records) {
    const own = readRecord(unusableInput, record);
    if (own !== null) unusable.set(own.item, own);
    else if (unusable.size > 0) for (const key of itemsOf(record)) unusable.delete(key);
  }
  return unusable;
}

/** Keys of the items that a record begins anew. */
function itemsOf({ type, item, items }: LogRecord): readonly string[] {
  if (type === 'batch_command') return Array.isArray(items) ? items : [];
  return type === 'intend' && typeof item === 'string' ? [readPartKey(item)?.item ?? item] : [];
}

/** The records without those of items that were looked at again since; for the compaction of a log. */
export function pickLiveUnusable(records: readonly LogRecord[]): LogRecord[] {
  const inForce = foldUnusable(records);
  const newest = new Map<unknown, LogRecord>();
  for (const record of records) if (record.type === 'unusable_input') newest.set(record.item, record);
  return records.filter(
    (record) =>
      record.type !== 'unusable_input' ||
      (newest.get(record.item) === record && inForce.has(String(record.item))),
  );
}
