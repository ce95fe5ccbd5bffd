/** The journal of a folder of results: the requests that were sent for it, and their outcomes. */

import { makeFolder } from '../../disk/folder.ts';
import { Failure } from '../../errors/failure.ts';
import { describeDisk, errorCode, inFolderOf } from '../../errors/system-error.ts';
import { openAppendLog } from '../../journal/append-log.ts';
import { describeHolder } from '../../journal/hold.ts';
import { type Intents, pickLiveIntents, trackIntents } from '../../journal/intents.ts';
import { type Lock, type LockAttempt, tryLock } from '../../journal/lock.ts';
import type { LogRecord } from '../../journal/record-line.ts';
import { journalPath, lockPath, withAbsolutePaths, withPathsFrom } from '../record-folder.ts';
import { pickLiveCommands } from '../report/command-record.ts';
import { pickLiveUnusable } from '../report/unusable-inputs.ts';

/** The option that chooses the folder of results. */
const RESULTS_OPTION = '--out';

export interface BatchJournal {
  /** Kept up to date while records are added. */
  readonly intents: Intents;
  /** All records except those of intents, including added ones. Paths in them are absolute. */
  records(): readonly LogRecord[];
  /** Resolves when they are on the disk. @throws Failure (`disk`; `temporary`, LOCK_LOST, with nothing written) */
  add(...records: readonly LogRecord[]): Promise<void>;
  /** Aborted with a Failure when another process has taken over the folder. */
  readonly lost: AbortSignal;
  close(): Promise<void>;
}

/**
 * Opens the journal for the only run in the folder, and creates the folder if necessary.
 * @param folder absolute
 * @throws Failure: `temporary` (BATCH_LOCKED) when another process works there, `disk`
 */
export function openBatchJournal(folder: string): Promise<BatchJournal> {
  return inFolderOf(RESULTS_OPTION, () => openFolder(folder));
}

async function openFolder(folder: string): Promise<BatchJournal> {
  await makeResultsFolder(folder);
  const lock = await lockBatch(folder);
  try {
    return await openLocked(folder, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openLocked(folder: string, lock: Lock): Promise<BatchJournal> {
  const path = journalPath(folder);
  const { log, content } = await openAppendLog(path);
  const live = { records: content.records };
  const pickLive = (records: Iterable<LogRecord>) => {
    live.records = pickLiveUnusable(pickLiveCommands(pickLiveIntents(records)));
    return live.records;
  };
  // Compaction is optional: the disk may lack room for the shorter copy.
  const isShorter = await log.compact(pickLive).catch(() => false);
  const read = isShorter ? live.records : content.records;
  const tracker = trackIntents();
  // To save memory, records of intents are kept only as the state that they add up to.
  const others: LogRecord[] = [];
  const lost = new AbortController();
  lock.lost.addEventListener('abort', () => lost.abort(lockLost(folder)), { once: true });
  const take = (record: LogRecord) => {
    if (!tracker.add(record)) others.push(record);
  };
  for (const record of read) take(withAbsolutePaths(folder, record));
  return {
    intents: tracker.intents,
    records: () => others,
    async add(...records) {
      // Two writers would damage the journal, and both would pay for the same jobs.
      if (!(await lock.isHeld())) lost.abort(lockLost(folder));
      lost.signal.throwIfAborted();
      const written = records.map((record) => withPathsFrom(folder, record));
      await inFolderOf(RESULTS_OPTION, () => log.append(...written));
      for (const record of records) take(record);
    },
    lost: lost.signal,
    async close() {
      await log.close();
      await lock.release();
    },
  };
}

/** With default permissions, unlike the journal, since the user may share results. */
async function makeResultsFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    const { reason } = describeDisk(errorCode(error));
    const message = `cannot create the folder ${folder}: ${reason}`;
    const advice = `Choose another folder with ${RESULTS_OPTION}.`;
    throw new Failure({ category: 'disk', code: 'DISK_ERROR', message, advice }, { cause: error });
  }
}

async function lockBatch(folder: string): Promise<Lock> {
  const path = lockPath(folder);
  const attempt = await tryLock(path);
  if (attempt.taken) return attempt.lock;
  throw batchLocked(folder, path, attempt);
}

function batchLocked(folder: string, path: string, attempt: LockAttempt & { taken: false }): Failure {
  const { who, ifDead } = describeHolder(attempt, path);
  return new Failure({
    category: 'temporary',
    code: 'BATCH_LOCKED',
    message: `another vloc works in ${folder}: ${who}`,
    advice: `Wait until it is done, or give this run another folder with ${RESULTS_OPTION}.${ifDead}`,
    retryable: true,
  });
}

function lockLost(folder: string): Failure {
  return new Failure({
    category: 'temporary',
    code: 'LOCK_LOST',
    message:
      `this run stops: another vloc has taken over ${folder} while this process stood still, ` +
      `or ${lockPath(folder)} was removed`,
    advice:
      'Wait until no other vloc works there, then run the same command again: it continues, and nothing is paid twice.',
    retryable: true,
  });
}
