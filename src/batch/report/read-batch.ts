/** Reads the journal of a folder, and which process works there, without a lock. A run may be active. */

import { requireSameShards } from '../other-journals.ts';
import { type BatchPlace, journalPath, lockPath, withAbsolutePaths } from '../record-folder.ts';
import { readCountedLog } from '../records/append-log.ts';
import { readLockFile } from '../records/lock.ts';
import { type Holder, judgeHolder, thisMachine } from '../records/machine.ts';
import { describeDamage, type LogContent } from '../records/record-line.ts';
import { findDoubt } from '../run/lost-jobs.ts';

/**
 * Reads one journal, with absolute paths; empty if there is none.
 * @throws Failure (`disk`)
 */
export async function readOwnLog(place: BatchPlace): Promise<LogContent> {
  const content = await readCountedLog(journalPath(place));
  return { ...content, records: content.records.map((record) => withAbsolutePaths(place.folder, record)) };
}

/** The same for a run. @throws Failure: `usage` (SHARDS_DIFFER), `disk` */
export async function readBatchLog(place: BatchPlace): Promise<LogContent> {
  await requireSameShards(place);
  return readOwnLog(place);
}

/**
 * A sentence for each damaged place of the journal. Damage found by earlier runs counts until the jobs were compared with the
 * service.
 */
export function describeBatchDamage(place: BatchPlace, { records, damage }: LogContent): readonly string[] {
  const before = findDoubt(records, null)?.places ?? [];
  return [
    ...describeDamage(journalPath(place), damage),
    ...before.map((place) => `Found by an earlier run: ${place}`),
  ];
}

/** A process that works in a folder; on another machine that is not certain. */
export interface FolderWorker extends Pick<Holder, 'pid' | 'host' | 'since'> {
  readonly certain: boolean;
}

/** The process that works on a batch or a shard; null for none. */
export async function findWorker(place: BatchPlace): Promise<FolderWorker | null> {
  const found = await readLockFile(lockPath(place));
  if (found === null || found.holder === null) return null;
  const verdict = judgeHolder(found.holder, thisMachine());
  if (verdict === 'gone') return null;
  const { pid, host, since } = found.holder;
  return { pid, host, since, certain: verdict === 'running' };
}
