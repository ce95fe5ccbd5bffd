/** Records without what they say about items that were forgotten later. Pure. */
import { parseForgotten } from '../records/intents.ts';
import type { LogRecord } from '../records/record-line.ts';

/** Records about one item besides those of its intents. */
const ITEM_RECORDS = new Set(['item_facts', 'unusable_input', 'usable_input', 'stage_export', 'joining']);

export function withoutForgotten(records: readonly LogRecord[]): readonly LogRecord[] {
  const ends = new Map<string, number>();
  for (const [place, record] of records.entries()) {
    const forgotten = parseForgotten(record);
    if (forgotten !== null) ends.set(forgotten.item, place);
  }
  if (ends.size === 0) return records;
  return records.flatMap((record, place): LogRecord[] => {
    const isKept = (key: unknown) => typeof key !== 'string' || place > (ends.get(key) ?? -1);
    if (ITEM_RECORDS.has(record.type) && !isKept(record.item)) return [];
    if (record.type !== 'batch_command' || !Array.isArray(record.items)) return [record];
    return [{ ...record, items: record.items.filter(isKept) }];
  });
}
