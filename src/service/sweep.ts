/** Removes expired data: first the files, then the records. Source: specification, "Limits" (retention). */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isDiskFull } from '../base/system-error.ts';
import { LIMITS } from '../protocol/limits.ts';
import { repeatWork } from './clock.ts';
import type { ServiceContext } from './context.ts';
import { isAttemptOf, jobOfAttempt } from './folders.ts';
import { ENDED_STATUSES, OPEN_STATUSES } from './job-statuses.ts';
import { finishJob } from './jobs/finish.ts';
import { entriesOf } from './storage/folder-storage.ts';
import { StorageAway, type StoredEntry } from './storage/storage.ts';
import type { Store } from './store/store.ts';
import { DUE_UPLOADS, expireUploads } from './uploads/rows.ts';

/** Expired data is refused immediately. Its files are removed within a minute, or at the next start. */
const INTERVAL_MS = 60_000;

/**
 * Sweeps now and every minute, unless another process on the same folder did so recently. Now, because many commands take
 * less than a minute. Resolves when expired jobs have ended: jobs that expired while no service ran must not run. The
 * sweep continues.
 * @returns stops, and waits for a running sweep
 */
export async function startSweeper(context: ServiceContext): Promise<() => Promise<void>> {
  const sweep = async (onExpired = () => {}) => {
    try {
      await takeTurn(context, onExpired);
      if (!context.storage.sharesFolder) await sweepOwnFolder(context);
    } catch (error) {
      context.log({ level: 'error', message: 'sweeping failed; it is tried again', error });
    }
    onExpired();
  };
  const { promise: expired, resolve } = Promise.withResolvers<void>();
  const first = sweep(resolve);
  await expired;
  const stop = repeatWork(context.clock, INTERVAL_MS, async () => {
    await first;
    await sweep();
  });
  return async () => {
    await first;
    await stop();
  };
}

/** Half of the interval: timers of several processes are never exactly a minute apart. */
const RECENT_MS = INTERVAL_MS / 2;
const LAST_TASK = 'SELECT 1 FROM tasks WHERE name = ?3 AND begun_at > ?1 AND begun_at <= ?2';
// A time in the future was written before a clock was set back.
const BEGIN_TASK = `
  INSERT INTO tasks (name, begun_at) VALUES (?3, ?2)
  ON CONFLICT (name) DO UPDATE SET begun_at = ?2 WHERE tasks.begun_at <= ?1 OR tasks.begun_at > ?2`;

/**
 * Sweeps, unless the last sweep of any process was less than half a minute ago.
 * @param onExpired called when expired jobs and uploads have ended, before their files are removed
 */
async function takeTurn(context: ServiceContext, onExpired: () => void): Promise<void> {
  const now = context.clock.now();
  if ((await ifPossible(context, () => beginTask(context, 'sweep', RECENT_MS, now))) === false) return;
  await ifPossible(context, () => endForgottenJobs(context, now));
  await ifPossible(context, () => expireUploads(context.store, now));
  onExpired();
  await removeExpired(context, now);
}

/** Returns true if no process has begun the task in that time. Then this one has. */
async function beginTask({ store }: ServiceContext, name: string, ms: number, now: number): Promise<boolean> {
  const values = [now - ms, now, name];
  // A read needs no lock.
  if ((await store.get(LAST_TASK, ...values)) !== undefined) return false;
  return (await store.run(BEGIN_TASK, ...values)) === 1;
}

/** Removes all data that has expired. */
async function removeExpired(context: ServiceContext, now: number): Promise<void> {
  await ifPossible(context, () => removeUploadBytes(context, now));
  await ifPossible(context, () => removeResults(context, now));
  await ifPossible(context, () => context.nonces.sweep(now));
  await ifPossible(context, () => removeRecords(context, now));
  await ifPossible(context, () => removeOrphans(context, now));
  if (context.storage.sharesFolder) await sweepOwnFolder(context);
}

/**
 * Does a part of a sweep whose failure does not keep the others from being done: records are removed while the storage is away, and
 * files while the disk is too full for records.
 * @returns null if it could not be done
 */
async function ifPossible<T>({ log }: ServiceContext, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StorageAway || isDiskFull(error))) throw error;
    log({ level: 'warn', message: 'a part of sweeping was not done; it is tried again', error });
    return null;
  }
}

/** Removes files of expired uploads, unless a job still uses them. First all files, because a full disk may have no room for records. */
async function removeUploadBytes({ store, storage }: ServiceContext, now: number): Promise<void> {
  const rows = await store.all<{ id: string; file: string }>(
    `SELECT id, file FROM uploads WHERE (status = 'expired' OR ${DUE_UPLOADS}) AND file IS NOT NULL AND NOT EXISTS
       (SELECT 1 FROM jobs WHERE upload_id = uploads.id AND jobs.status IN ${OPEN_STATUSES})`,
    now,
  );
  for (const { file } of rows) await storage.removeUpload(file);
  for (const { id } of rows) await store.run('UPDATE uploads SET file = NULL WHERE id = ?', id);
}

/**
 * Ends jobs that did not run for seven days because the service was off. Releases their credits before their records
 * are removed.
 */
async function endForgottenJobs(context: ServiceContext, now: number): Promise<void> {
  const rows = await context.store.all<{ id: string }>(
    `SELECT id FROM jobs WHERE status IN ${OPEN_STATUSES} AND created_at <= ?`,
    now - LIMITS.retentionMs,
  );
  for (const { id } of rows) {
    const message = 'the job was not done before its record expired';
    await finishJob(context, id, null, { status: 'failed', code: 'DEADLINE_EXCEEDED', message });
  }
}

/** First all files, as above. */
async function removeResults({ store, storage }: ServiceContext, now: number): Promise<void> {
  const rows = await store.all<{ id: string; folder: string }>(
    'SELECT id, folder FROM jobs WHERE folder IS NOT NULL AND links_expire_at <= ?',
    now,
  );
  for (const { folder } of rows) await storage.removeResult(folder);
  for (const { id } of rows) await store.run('UPDATE jobs SET folder = NULL WHERE id = ?', id);
}

/** One day: longer than all attempts to deliver the event of a job. Source: contract, "Webhooks" (delivery). */
const LAST_DELIVERY_MS = 24 * 60 * 60_000;

/**
 * Removes old records, but keeps bills and ledger: quotas count by month, and the ledger is the account. A job whose
 * event is still being delivered is kept until then, although callers can no longer read it.
 */
async function removeRecords({ store }: ServiceContext, now: number): Promise<void> {
  const before = now - LIMITS.retentionMs;
  await removeInBatches(
    store,
    `DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE status IN ${ENDED_STATUSES} AND created_at <= ? AND folder IS NULL AND NOT EXISTS
       (SELECT 1 FROM deliveries WHERE job_id = jobs.id AND status = 'pending' AND deliveries.created_at > ?) LIMIT ${BATCH})`,
    before,
    now - LAST_DELIVERY_MS,
  );
  await removeInBatches(
    store,
    `DELETE FROM idempotency WHERE (key_id, idempotency_key) IN
       (SELECT key_id, idempotency_key FROM idempotency WHERE created_at <= ? LIMIT ${BATCH})`,
    before,
  );
  await removeInBatches(
    store,
    `DELETE FROM uploads WHERE id IN
       (SELECT id FROM uploads WHERE created_at <= ? AND file IS NULL LIMIT ${BATCH})`,
    before,
  );
}

/** Removing this many takes about 20 ms, in which requests that write wait. */
const BATCH = 500;
/** As long as several requests. SQLite answers none during a batch, and a request needs several turns of the event loop. */
const PAUSE_MS = 10;

/** Runs a statement in transactions of its own until there is nothing left. Requests come between them. */
async function removeInBatches(store: Store, sql: string, ...values: number[]): Promise<void> {
  while ((await store.transaction((tx) => tx.run(sql, ...values))) === BATCH) await setTimeout(PAUSE_MS);
}

/** Twice the lifetime of an upload URL: no file exists longer than that without a record. */
const MIN_AGE_MS = 2 * 60 * 60_000;
const IS_OPEN = `SELECT 1 FROM jobs WHERE id = ? AND status IN ${OPEN_STATUSES}`;
/** One statement: between two, another process could end the job and record this folder as its result. */
const HAS_RESULTS = `SELECT 1 FROM jobs WHERE id = ? AND (status IN ${OPEN_STATUSES} OR folder = ?)`;
const HAS_ENDED = `SELECT 1 FROM jobs WHERE id = ? AND status NOT IN ${OPEN_STATUSES}`;

/**
 * Removes uploads and results without a record, left by processes that died: results of finished jobs immediately, others when they
 * are old, because their record may still be written. The next attempt at an open job removes those before it.
 */
async function removeOrphans(context: ServiceContext, now: number): Promise<void> {
  const { storage } = context;
  if (
    storage.sweepEveryMs > 0 &&
    !(await beginTask(context, 'sweep of storage', storage.sweepEveryMs, now))
  ) {
    return;
  }
  const has = asks(context);
  await removeUnknown(storage.listUploads(), storage.removeUpload, now, {
    isKnown: (name) => has('SELECT 1 FROM uploads WHERE file = ?', name),
    isOver: async () => false,
  });
  await removeUnknown(storage.listResults(), storage.removeResult, now, {
    isKnown: (name) => has(HAS_RESULTS, jobOfAttempt(name), name),
    isOver: (name) => has(HAS_ENDED, jobOfAttempt(name)),
  });
}

/** Removes work and stages without a job from the state folder, and expired stages. */
async function sweepOwnFolder(context: ServiceContext): Promise<void> {
  const { clock, folders, stages, storage } = context;
  const now = clock.now();
  const has = asks(context);
  await stages.sweep(now);
  const remove = (folder: string) => (name: string) =>
    rm(join(folder, name), { recursive: true, force: true });
  await removeUnknown(entriesOf(folders.stages), remove(folders.stages), now, {
    isKnown: async (name) => stages.isKnown(name, now),
    isOver: async () => false,
  });
  const isUnderWay = storage.sharesFolder
    ? (name: string) => has(IS_OPEN, jobOfAttempt(name))
    : (name: string) => isHeldByOwner(context, name);
  await removeUnknown(entriesOf(folders.work), remove(folders.work), now, {
    isKnown: async (name) => (await isUnderWay(name)) || stages.isKnown(name, now),
    // In a folder of its own, a process finds only attempts of its own and of those that died before.
    isOver: async (name) => !storage.sharesFolder || has(HAS_ENDED, jobOfAttempt(name)),
  });
}

function asks({ store }: ServiceContext) {
  return async (sql: string, ...values: string[]) => (await store.get(sql, ...values)) !== undefined;
}

/** Whether the process that made an attempt still has the lease of its job or upload. */
async function isHeldByOwner({ store }: ServiceContext, attempt: string): Promise<boolean> {
  const holders = await store.all<{ owner: string | null }>(
    'SELECT lease_owner AS owner FROM jobs WHERE id = ?1 UNION ALL SELECT lease_owner FROM uploads WHERE id = ?1',
    jobOfAttempt(attempt),
  );
  return holders.some(({ owner }) => isAttemptOf(attempt, owner));
}

interface Judge {
  readonly isKnown: (name: string) => Promise<boolean>;
  /** Returns true for what is not kept although it is recent. */
  readonly isOver: (name: string) => Promise<boolean>;
}

async function removeUnknown(
  entries: AsyncIterable<StoredEntry>,
  remove: (name: string) => Promise<void>,
  now: number,
  { isKnown, isOver }: Judge,
): Promise<void> {
  for await (const { name, modifiedAt } of entries) {
    if (await isKnown(name)) continue;
    if (!(await isOver(name))) {
      const since = await modifiedAt();
      if (since === null || now - since < MIN_AGE_MS) continue;
    }
    await remove(name);
  }
}
