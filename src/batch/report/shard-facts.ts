/** Several journals and folders as one batch, and its shards. Pure. */

import { combineRecords, type ReadRecords } from '../records/batch-records.ts';
import type { BatchCommand } from '../records/command-record.ts';
import { nameOfKey } from '../records/item-key.ts';
import type { BatchPlace } from '../records/record-folder.ts';
import { type Shard, shardOf, writeShard } from '../records/shard.ts';
import {
  type BatchFacts,
  combineFacts,
  countDamage,
  countFailed,
  countOpen,
  countStates,
  readBatchFacts,
  type ShardReport,
} from './batch-facts.ts';
import type { ItemReport } from './item-report.ts';

/** A journal of a folder, paths in it absolute. */
interface JournalContent {
  readonly place: BatchPlace;
  readonly content: ReadRecords;
}

export interface FolderFacts {
  /** Absolute. */
  readonly folder: string;
  readonly journals: readonly JournalContent[];
  readonly facts: BatchFacts;
}

/**
 * The facts of all journals of a folder. Several of them may have the same item, if the number of shards was changed.
 * @param now milliseconds since 1970
 */
export function readFolderFacts(
  folder: string,
  journals: readonly JournalContent[],
  now: number,
): BatchFacts {
  // The newest last: its facts about an item count.
  const ordered = journals.toSorted((one, other) => lastRunMs(one) - lastRunMs(other));
  const facts = readBatchFacts(combineRecords(ordered.map(({ content }) => content)), folder, now);
  return { ...facts, damaged: journals.reduce((sum, { content }) => sum + countDamage(content), 0) };
}

/** Several folders as one batch, with their shards and those that have not run in any of them. */
export function combineFolders(folders: readonly FolderFacts[]): BatchFacts {
  const journals = folders.flatMap((each) => each.journals);
  const newest = journals.toSorted((one, other) => lastRunMs(one) - lastRunMs(other)).at(-1);
  const count = newest?.place.shard?.count;
  const named = folders.map((each) => ({
    ...each,
    items: each.facts.items.map((item) => withPlace(item, count, folders.length > 1 ? each.folder : null)),
  }));
  const facts = combineFacts(named.map(({ facts: own, items }) => ({ ...own, items })));
  if (count === undefined) return facts;
  const shards = named.flatMap(({ folder, journals: own, items }) =>
    own.flatMap(({ place: { shard }, content }): ShardReport[] => {
      if (shard?.count !== count) return [];
      const name = writeShard(shard);
      const counts = countStates(items.filter((item) => item.shard === name));
      const { host = null } = lastCommand(content) ?? {};
      const total = Object.values(counts).reduce((sum, each) => sum + each, 0);
      const [failed, open] = [countFailed({ counts }), countOpen({ counts })];
      return [{ shard: name, folder, host, items: total, done: counts.done, failed, open }];
    }),
  );
  const there = new Set(shards.map(({ shard }) => shard));
  const all = Array.from({ length: count }, (_, place): Shard => ({ index: place + 1, count }));
  return { ...facts, shards, missing_shards: all.map(writeShard).filter((shard) => !there.has(shard)) };
}

function withPlace(item: ItemReport, count: number | undefined, folder: string | null): ItemReport {
  const name = nameOfKey(item.key);
  const isShared = count !== undefined && name !== null;
  return {
    ...item,
    ...(isShared ? { shard: writeShard({ index: shardOf(name, count), count }) } : {}),
    ...(folder === null ? {} : { folder }),
  };
}

function lastCommand({ commands }: ReadRecords): BatchCommand | undefined {
  return commands.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at)).at(-1);
}

function lastRunMs({ content }: JournalContent): number {
  return Date.parse(lastCommand(content)?.at ?? '') || 0;
}

/** A sentence about shards without a journal; null if there are none. */
export function describeMissing({ missing_shards: missing }: BatchFacts): string | null {
  if (missing.length === 0) return null;
  const [what, verb] = missing.length === 1 ? ['Shard', 'has'] : ['Shards', 'have'];
  return `${what} ${missing.join(', ')} ${verb} not run here.`;
}
