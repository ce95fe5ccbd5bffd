/** Reads the journal of a folder, and which process works there, without a lock. A run may be active. */

import type { ReadRecords } from '../records/batch-records.ts';
import { readLockFile } from '../records/lock.ts';
import { findDoubt } from '../records/lost-jobs.ts';
import { type Holder, judgeHolder, thisMachine } from '../records/machine.ts';
import { readOwnRecords, requireSameShards } from '../records/other-journals.ts';
import { type BatchPlace, lockPath } from '../records/record-folder.ts';

/** The records of a batch or shard for a run. @throws Failure: `usage` (SHARDS_DIFFER, RECORDS_OLD), `disk` */
export async function readBatchRecords(place: BatchPlace): Promise<ReadRecords> {
  await requireSameShards(place);
  return readOwnRecords(place);
}

/** A sentence for each damaged place. Damage found by earlier runs counts until the jobs were compared with the service. */
export function describeBatchDamage(records: ReadRecords): readonly string[] {
  const before = findDoubt(records, null)?.places ?? [];
  return [...records.damage, ...before.map((place) => `Found by an earlier run: ${place}`)];
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
