/** Journal records of items whose file is not usable, as found by this machine or by the service. */
import * as v from 'valibot';
import type { BatchItem } from '../item.ts';
import { readPartKey } from '../plan/item-key.ts';
import { readRecord } from '../records/read-record.ts';
import type { LogRecord } from '../records/record-line.ts';

const unusableInput = v.object({
  type: v.literal('unusable_input'),
  /** RFC 3339. */
  at: v.pipe(v.string(), v.isoTimestamp()),
  /** Key of the item. */
  item: v.string(),
  label: v.string(),
  /** Why, and how to fix it. */
  detail: v.string(),
  /** Missing if found on this machine. */
  code: v.optional(v.string()),
});

export type UnusableRecord = v.InferOutput<typeof unusableInput>;

/** @param atMs milliseconds since 1970  @param code of the service, if it refused the file */
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

/** Written when the file has become usable, by runs that may write no other record of the item. */
const usableInput = v.object({ type: v.literal('usable_input'), item: v.string() });

export function createUsableRecord(item: string): LogRecord {
  return { type: 'usable_input', item };
}

interface CheckedInputs {
  /** Items that are not usable, by key, until a later run or request checks them again. */
  readonly unusable: ReadonlyMap<string, UnusableRecord>;
  /** Keys of items that have become usable and have no request since. */
  readonly usable: ReadonlySet<string>;
}

export function foldUnusable(records: readonly LogRecord[]): CheckedInputs {
  const unusable = new Map<string, UnusableRecord>();
  const usable = new Set<string>();
  for (const record of records) {
    const own = readRecord(unusableInput, record);
    const fixed = readRecord(usableInput, record);
    if (own !== null) {
      usable.delete(own.item);
      unusable.set(own.item, own);
    } else if (fixed !== null) {
      unusable.delete(fixed.item);
      usable.add(fixed.item);
    } else if (unusable.size + usable.size > 0) {
      for (const key of itemsOf(record)) {
        unusable.delete(key);
        usable.delete(key);
      }
    }
  }
  return { unusable, usable };
}

/** Keys of the items that a record restarts. */
function itemsOf({ type, item, items }: LogRecord): readonly string[] {
  if (type === 'batch_command') return Array.isArray(items) ? items : [];
  return type === 'intend' && typeof item === 'string' ? [readPartKey(item)?.item ?? item] : [];
}

/** Drops records of items that were checked again since, to compact a log. */
export function pickLiveUnusable(records: readonly LogRecord[]): LogRecord[] {
  const { unusable, usable } = foldUnusable(records);
  const isCheck = ({ type }: LogRecord) => type === 'unusable_input' || type === 'usable_input';
  const newest = new Map<unknown, LogRecord>();
  for (const record of records) if (isCheck(record)) newest.set(record.item, record);
  const isLive = (item: string) => unusable.has(item) || usable.has(item);
  return records.filter(
    (record) => !isCheck(record) || (newest.get(record.item) === record && isLive(String(record.item))),
  );
}
