/** Inputs that were renamed since an earlier run: their jobs are continued under the new name. */

import type { BatchItem } from '../item.ts';
import { type ForgottenRecord, forgetItems } from '../records/intents.ts';
import type { Choices, Recorded } from './decision.ts';
import { createItemFacts, type ItemFacts, trackOf } from './facts.ts';
import { exists } from './file-status.ts';
import { isSplit } from './input.ts';
import { keyWithName, newestIntent } from './item-key.ts';
import { describeChange } from './requests.ts';

/** The records that give an item the jobs of the one with its earlier name. */
type RenamedRecord = ForgottenRecord | ItemFacts;

/**
 * Finds items without history whose content had another name, with the same language and options. The file with that name is
 * gone: of two files with the same content, each has a job of its own.
 * @returns the records for the journal, in their order
 */
export async function findRenamed(
  items: readonly BatchItem[],
  recorded: Recorded,
  { fresh, now, hashFile }: Pick<Choices, 'fresh' | 'now' | 'hashFile'>,
): Promise<readonly RenamedRecord[]> {
  const { intents, facts } = recorded;
  const current = new Set(items.map(({ key }) => key));
  const left = [...facts.values()].filter(
    ({ item, size, path }) =>
      size !== null && path !== null && intents.byItem.has(item) && !current.has(item),
  );
  if (fresh || left.length === 0) return [];
  const bySize = Map.groupBy(left, ({ size }) => size);
  const hashes = new Map<string, Promise<string>>();
  const taken = new Set<string>();
  const records: RenamedRecord[] = [];
  for (const item of items) {
    const { input } = item;
    const file = input.type === 'lines' ? input.file : input.type === 'file' ? input : null;
    if (file === null || isSplit(input) || intents.byItem.has(item.key)) continue;
    for (const known of bySize.get(file.bytes) ?? []) {
      const isAlike = keyWithName(known.item, input.name) === item.key && isSameRequest(known, item);
      if (!isAlike || taken.has(known.item) || (await exists(known.path ?? ''))) continue;
      const own =
        hashes.get(file.path) ??
        (input.type === 'lines' ? Promise.resolve(input.sha256) : hashFile(file.path));
      hashes.set(file.path, own);
      const before = known.sha256 ?? newestIntent(known.item, intents)?.asked?.input_sha256;
      const sha256 = await own;
      if (before !== sha256) continue;
      taken.add(known.item);
      const at = new Date(now).toISOString();
      records.push(
        { type: 'item_forgotten', at, item: known.item, as: item.key },
        createItemFacts(item, sha256),
      );
      break;
    }
  }
  return records;
}

function isSameRequest(known: ItemFacts, item: BatchItem): boolean {
  return (
    known.audio_track === trackOf(item) && describeChange(item.kind, known.fields, item.fields).length === 0
  );
}

/** The content of the journal with these records. */
export function withRenamed(recorded: Recorded, records: readonly RenamedRecord[]): Recorded {
  if (records.length === 0) return recorded;
  const moves = records.flatMap((record) => (record.type === 'item_forgotten' ? [record] : []));
  const facts = new Map(recorded.facts);
  for (const record of records) if (record.type === 'item_facts') facts.set(record.item, record);
  return { intents: forgetItems(recorded.intents, moves), facts };
}
