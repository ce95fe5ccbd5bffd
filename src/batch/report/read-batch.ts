/** Reads the journal of a folder, and which process works there, without a lock. A run may be active. */
import { readCountedLog } from '../../journal/append-log.ts';
import { readLockFile } from '../../journal/lock.ts';
import { type Holder, judgeHolder, thisMachine } from '../../journal/machine.ts';
import { describeDamage, type LogContent } from '../../journal/record-line.ts';
import { journalPath, lockPath, withAbsolutePaths } from '../record-folder.ts';
import { findDoubt } from '../run/lost-jobs.ts';

/**
 * Reads the journal of a folder, with absolute paths; empty if there is none.
 * @param folder absolute
 * @throws Failure (`disk`)
 */
export async function readBatchLog(folder: string): Promise<LogContent> {
  const content = await readCountedLog(journalPath(folder));
  return { ...content, records: content.records.map((record) => withAbsolutePaths(folder, record)) };
}

/**
 * A sentence for each damaged place of the journal. Damage found by earlier runs counts until the jobs were compared with the
 * service.
 */
export function describeBatchDamage(folder: string, { records, damage }: LogContent): readonly string[] {
  const before = findDoubt(records, null)?.places ?? [];
  return [
    ...describeDamage(journalPath(folder), damage),
    ...before.map((place) => `An earlier run has found: ${place}`),
  ];
}

/** A process that works in a folder; on another machine that is not certain. */
export interface FolderWorker extends Pick<Holder, 'pid' | 'host' | 'since'> {
  readonly certain: boolean;
}

/** The process that works in a folder; null for none. */
export async function findWorker(folder: string): Promise<FolderWorker | null> {
  const found = await readLockFile(lockPath(folder));
  if (found === null || found.holder === null) return null;
  const verdict = judgeHolder(found.holder, thisMachine());
  if (verdict === 'gone') return null;
  const { pid, host, since } = found.holder;
  return { pid, host, since, certain: verdict === 'running' };
}
