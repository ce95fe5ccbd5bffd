/** The journal of a folder and who works there, read without a lock: a run may be going on. */
import { readCountedLog } from '../../journal/append-log.ts';
import { readLockFile } from '../../journal/lock.ts';
import { type Holder, judgeHolder, thisMachine } from '../../journal/machine.ts';
import { describeDamage, type LogContent } from '../../journal/record-line.ts';
import { journalPath, lockPath, withAbsolutePaths } from '../record-folder.ts';
import { findDoubt } from '../run/lost-jobs.ts';

/**
 * What the journal of a folder holds, paths in it absolute; empty where there is none.
 * @param folder absolute
 * @throws Failure (`disk`)
 */
export async function readBatchLog(folder: string): Promise<LogContent> {
  const content = await readCountedLog(journalPath(folder));
  return { ...content, records: content.records.map((record) => withAbsolutePaths(folder, record)) };
}

/**
 * A sentence for each damaged place of the journal of a folder. What an earlier run has found counts until the service was
 * asked for the jobs that are lost.
 */
export function describeBatchDamage(folder: string, { records, damage }: LogContent): readonly string[] {
  const before = findDoubt(records, null)?.places ?? [];
  return [
    ...describeDamage(journalPath(folder), damage),
    ...before.map((place) => `An earlier run has found: ${place}`),
  ];
}

/** A process that works in a folder, or on another machine may do so. */
export interface Worker extends Pick<Holder, 'pid' | 'host' | 'since'> {
  readonly certain: boolean;
}

/** Null when nobody does. */
export async function findWorker(folder: string): Promise<Worker | null> {
  const found = await readLockFile(lockPath(folder));
  if (found === null || found.holder === null) return null;
  const verdict = judgeHolder(found.holder, thisMachine());
  if (verdict === 'gone') return null;
  const { pid, host, since } = found.holder;
  return { pid, host, since, certain: verdict === 'running' };
}
