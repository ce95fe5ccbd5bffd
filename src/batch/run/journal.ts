/** The journal of a folder of results: the requests that were sent for it, and their outcomes. */

import { diskFailure, type Failure, temporaryFailure } from '../../base/failure.ts';
import { makeFolder } from '../../base/folder.ts';
import { describeDisk, errorCode, inFolderOf } from '../../base/system-error.ts';
import type { ItemProvenance } from '../item-provenance.ts';
import { gatherAttempts, setAttempt } from '../records/attempts.ts';
import {
  applyRecord,
  BATCH_SCHEMA,
  type BatchRecord,
  type BatchRecords,
  viewRecords,
} from '../records/batch-records.ts';
import { openRecords } from '../records/database.ts';
import { describeHolder } from '../records/hold.ts';
import { inspectLock, type Lock, type LockAttempt, tryLock } from '../records/lock.ts';
import { otherPlaces, requireSameShards } from '../records/other-journals.ts';
import { type BatchPlace, lockPath, recordsPath, refuseOldRecords } from '../records/record-folder.ts';
import { writeShard } from '../records/shard.ts';

/** The option that chooses the folder of results. */
const RESULTS_OPTION = '--out';

export interface BatchJournal extends BatchRecords {
  /** Whether records may be missing: it had no attempt when it was opened, or an earlier run was ended while it wrote. */
  readonly isNew: boolean;
  /** Resolves when they are on the disk. @throws Failure (`disk`; `temporary`, LOCK_LOST, with nothing written) */
  add(...records: readonly BatchRecord[]): Promise<void>;
  /** How the job of an attempt made its result, without reading those of the others; null if that is not known. @param key of the attempt */
  provenanceOf(key: string): ItemProvenance | null;
  /** Aborted with a Failure when another process has taken over the folder. */
  readonly lost: AbortSignal;
  close(): Promise<void>;
}

/**
 * Opens the journal for the only run of the batch or shard, and creates the folder if necessary.
 * @throws Failure: `temporary` (BATCH_LOCKED) when another process works on the same items, `usage` (SHARDS_DIFFER,
 *   RECORDS_OLD), `disk`
 */
export function openBatchJournal(place: BatchPlace): Promise<BatchJournal> {
  return inFolderOf(RESULTS_OPTION, () => openFolder(place, true));
}

/** The same to forget items: records of other numbers of shards are no problem then, since nothing is sent. */
export function openJournalToForget(place: BatchPlace): Promise<BatchJournal> {
  return openFolder(place, false);
}

async function openFolder(place: BatchPlace, isRun: boolean): Promise<BatchJournal> {
  await makeResultsFolder(place.folder);
  const lock = await lockBatch(place);
  try {
    for (const other of await otherPlaces(place)) await checkIdle(place, other);
    await refuseOldRecords(place);
    if (isRun) await requireSameShards(place);
    return await openLocked(place, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openLocked(place: BatchPlace, lock: Lock): Promise<BatchJournal> {
  const { folder } = place;
  const live = gatherAttempts([]);
  const { database, isCutOff } = await openRecords(recordsPath(place), BATCH_SCHEMA, {
    // Uncommitted records are lost, so the attempts are read again.
    onRollback: () => readAttempts(),
  });
  const view = viewRecords((table, where) => database.find(table, where), folder);
  function readAttempts(): void {
    live.byKey.clear();
    live.byItem.clear();
    for (const attempt of view.attempts.byKey.values()) setAttempt(live, attempt);
  }
  readAttempts();
  const lost = new AbortController();
  lock.lost.addEventListener('abort', () => lost.abort(lockLostFailure(place)), { once: true });
  const journal = {
    isNew: live.byKey.size === 0 || isCutOff,
    // Kept in memory, since decisions about each item look at them again and again.
    attempts: live,
    async add(...records: readonly BatchRecord[]) {
      const write = () => {
        // Two writers would both pay for the same jobs. Within the transaction, so that nobody takes over in between.
        if (!lock.isHeld()) lost.abort(lockLostFailure(place));
        lost.signal.throwIfAborted();
        for (const record of records)
          for (const attempt of applyRecord(database, folder, record)) setAttempt(live, attempt);
      };
      await inFolderOf(RESULTS_OPTION, () => database.write(write));
    },
    provenanceOf(key: string) {
      const own = viewRecords((table) => (table === 'attempts' ? database.find(table, { key }) : []), folder);
      return own.provenances.get(key) ?? null;
    },
    lost: lost.signal,
    async close() {
      await database.close();
      await lock.release();
    },
  };
  return Object.defineProperties(view, Object.getOwnPropertyDescriptors(journal)) as BatchJournal; // the type of the result of defineProperties is that of its first argument
}

/** With default permissions, unlike the journal, since the user may share results. */
async function makeResultsFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    const { reason } = describeDisk(errorCode(error), folder);
    const message = `cannot create the folder ${folder}: ${reason}`;
    const advice = `Choose another folder with ${RESULTS_OPTION}.`;
    throw diskFailure('DISK_ERROR', message, advice, {}, { cause: error });
  }
}

async function lockBatch(place: BatchPlace): Promise<Lock> {
  const path = lockPath(place);
  const attempt = await tryLock(path);
  if (attempt.taken) return attempt.lock;
  throw batchLockedFailure(place, path, attempt);
}

/**
 * Checks that no run works on a batch that is divided otherwise, since it may work on the same items. Each run takes its own
 * lock first, so that of two runs that start at the same time at least one sees the other.
 */
async function checkIdle(place: BatchPlace, other: BatchPlace): Promise<void> {
  const path = lockPath(other);
  if ((await inspectLock(path)) === null) return;
  const attempt = await tryLock(path);
  if (!attempt.taken) throw batchLockedFailure(other, path, attempt, place);
  await attempt.lock.release();
}

/** @param wanted the place that cannot be used for that reason, if it is another one */
function batchLockedFailure(
  { folder, shard }: BatchPlace,
  path: string,
  attempt: LockAttempt & { taken: false },
  wanted?: BatchPlace,
): Failure {
  const { who, ifDead } = describeHolder(attempt, path);
  const what = shard === undefined ? '' : ` on shard ${writeShard(shard)}`;
  const why = wanted === undefined ? '' : `, which may be the same items as ${nameShare(wanted)}`;
  return temporaryFailure(
    'BATCH_LOCKED',
    `another vloc works in ${folder}${what}${why}: ${who}`,
    `Wait until it is done, or give this run another folder with ${RESULTS_OPTION}.${ifDead}`,
    { retryable: true },
  );
}

function nameShare({ shard }: BatchPlace): string {
  return shard === undefined ? 'those of a run without --shard' : `those of shard ${writeShard(shard)}`;
}

function lockLostFailure(place: BatchPlace): Failure {
  const { folder } = place;
  return temporaryFailure(
    'LOCK_LOST',
    `this run stops: another vloc has taken over ${folder} while this process was suspended, ` +
      `or ${lockPath(place)} was removed`,
    'Wait until no other vloc works there, then run the same command again: it continues, and nothing is paid twice.',
    { retryable: true },
  );
}
