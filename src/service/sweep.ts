/** Removes expired data: first the files, then the records. Source: specification, "Limits" (retention). */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LIMITS } from '../protocol/limits.ts';
import { type Cancel, repeat } from './clock.ts';
import type { ServiceContext } from './context.ts';
import { jobOfAttempt } from './folders.ts';
import { finishJob } from './jobs/finish.ts';
import { expireUploads, UPLOAD_RECORD_MS } from './uploads/rows.ts';

interface Sweeper {
  /** Stops, and waits for a running sweep. */
  stop(): Promise<void>;
}

/** Expired data is refused immediately. Its files are removed within a minute, or at the next start. */
const INTERVAL_MS = 60_000;

/**
 * Sweeps now and every minute, unless another process on the same folder did so recently. Now, because many commands take
 * less than a minute. Resolves when expired jobs have ended: jobs that expired while no service ran must not run. The
 * sweep continues.
 */
export async function startSweeper(context: ServiceContext): Promise<Sweeper> {
  let underWay: Promise<void> | null = null;
  const sweepIfDue = (onExpired = () => {}) => {
    underWay ??= takeTurn(context, onExpired)
      .catch((error) => context.log({ level: 'error', message: 'sweeping failed; it is tried again', error }))
      .finally(() => {
        underWay = null;
        onExpired();
      });
  };
  await new Promise<void>((resolve) => sweepIfDue(resolve));
  const cancel: Cancel = repeat(context.clock, INTERVAL_MS, () => sweepIfDue());
  return {
    async stop() {
      cancel();
      await underWay;
    },
  };
}

/** Half of the interval: timers of several processes are never exactly a minute apart. */
const RECENT_MS = INTERVAL_MS / 2;
const LAST_SWEEP = `SELECT 1 FROM tasks WHERE name = 'sweep' AND begun_at > ?1 AND begun_at <= ?2`;
// A time in the future was written before a clock was set back.
const BEGIN_SWEEP = `
  INSERT INTO tasks (name, begun_at) VALUES ('sweep', ?2)
  ON CONFLICT (name) DO UPDATE SET begun_at = ?2 WHERE tasks.begun_at <= ?1 OR tasks.begun_at > ?2`;

/**
 * Sweeps, unless the last sweep of any process was less than half a minute ago.
 * @param onExpired called when expired jobs and uploads have ended, before their files are removed
 */
async function takeTurn(context: ServiceContext, onExpired: () => void): Promise<void> {
  const now = context.clock.now();
  const { store } = context;
  // A read needs no lock.
  if ((await store.get(LAST_SWEEP, now - RECENT_MS, now)) !== undefined) return;
  if ((await store.run(BEGIN_SWEEP, now - RECENT_MS, now)) !== 1) return;
  await endForgottenJobs(context, now);
  await expireUploads(store, now);
  onExpired();
  await removeExpired(context, now);
}

/** Removes all data that has expired. */
async function removeExpired(context: ServiceContext, now: number): Promise<void> {
  await context.nonces.sweep(now);
  await removeUploadBytes(context);
  await removeResults(context, now);
  await removeRecords(context, now);
  await context.stages.sweep(now);
  await removeOrphans(context, now);
}

/** Removes files of expired uploads, unless a job still uses them. */
async function removeUploadBytes(context: ServiceContext): Promise<void> {
  const { store, folders } = context;
  const rows = await store.all<{ id: string; file: string }>(
    `SELECT id, file FROM uploads WHERE status = 'expired' AND file IS NOT NULL AND NOT EXISTS
       (SELECT 1 FROM jobs WHERE upload_id = uploads.id AND jobs.status IN ('queued', 'processing'))`,
  );
  for (const { id, file } of rows) {
    await rm(join(folders.uploads, file), { force: true });
    await store.run('UPDATE uploads SET file = NULL WHERE id = ?', id);
  }
}

/**
 * Ends jobs that did not run for seven days because the service was off. Releases their credits before their records
 * are removed.
 */
async function endForgottenJobs(context: ServiceContext, now: number): Promise<void> {
  const rows = await context.store.all<{ id: string }>(
    `SELECT id FROM jobs WHERE status IN ('queued', 'processing') AND created_at <= ?`,
    now - LIMITS.retentionMs,
  );
  for (const { id } of rows) {
    const message = 'the job was not done before its record expired';
    await finishJob(context, id, null, { status: 'failed', code: 'DEADLINE_EXCEEDED', message });
  }
}

async function removeResults(context: ServiceContext, now: number): Promise<void> {
  const { store, folders } = context;
  const rows = await store.all<{ id: string; folder: string }>(
    'SELECT id, folder FROM jobs WHERE folder IS NOT NULL AND links_expire_at <= ?',
    now,
  );
  for (const { id, folder } of rows) {
    await rm(join(folders.assets, folder), { recursive: true, force: true });
    await store.run('UPDATE jobs SET folder = NULL WHERE id = ?', id);
  }
}

/** One day: longer than all attempts to deliver the event of a job. Source: contract, "Webhooks" (delivery). */
const LAST_DELIVERY_MS = 24 * 60 * 60_000;

/**
 * Removes old records, but keeps bills and ledger: quotas count by month, and the ledger is the account. A job whose
 * event is still being delivered is kept until then, although callers can no longer read it.
 */
async function removeRecords({ store }: ServiceContext, now: number): Promise<void> {
  const before = now - LIMITS.retentionMs;
  await store.transaction(async (tx) => {
    await tx.run(
      `DELETE FROM jobs WHERE created_at <= ? AND folder IS NULL AND NOT EXISTS
         (SELECT 1 FROM deliveries WHERE job_id = jobs.id AND status = 'pending' AND deliveries.created_at > ?)`,
      before,
      now - LAST_DELIVERY_MS,
    );
    await tx.run('DELETE FROM idempotency WHERE created_at <= ?', before);
    await tx.run('DELETE FROM uploads WHERE created_at <= ? AND file IS NULL', now - UPLOAD_RECORD_MS);
  });
}

/** Twice the lifetime of an upload URL: no file exists longer than that without a record. */
const MIN_AGE_MS = 2 * 60 * 60_000;
const IS_OPEN = `SELECT 1 FROM jobs WHERE id = ? AND status IN ('queued', 'processing')`;
/** One statement: between two, another process could end the job and record this folder as its result. */
const HAS_RESULTS = `SELECT 1 FROM jobs WHERE id = ? AND (status IN ('queued', 'processing') OR folder = ?)`;
const HAS_ENDED = `SELECT 1 FROM jobs WHERE id = ? AND status NOT IN ('queued', 'processing')`;

/**
 * Removes files without a record, left by processes that died: attempts at finished jobs at once, others when they are
 * old, because their record may still be written. The next attempt at an open job removes those before it.
 */
async function removeOrphans(context: ServiceContext, now: number): Promise<void> {
  const { store, folders } = context;
  const known = async (sql: string, ...values: string[]) => (await store.get(sql, ...values)) !== undefined;
  const hasEnded = (name: string) => known(HAS_ENDED, jobOfAttempt(name));
  await removeFrom(folders.uploads, now, (name) => known('SELECT 1 FROM uploads WHERE file = ?', name));
  await removeFrom(folders.assets, now, (name) => known(HAS_RESULTS, jobOfAttempt(name), name), hasEnded);
  await removeFrom(folders.stages, now, async (name) => context.stages.isKnown(name, now));
  await removeFrom(
    folders.work,
    now,
    async (name) => (await known(IS_OPEN, jobOfAttempt(name))) || context.stages.isKnown(name, now),
    hasEnded,
  );
}

/** @param isOver returns true for files that are not kept although they are recent */
async function removeFrom(
  folder: string,
  now: number,
  isKnown: (name: string) => Promise<boolean>,
  isOver: (name: string) => Promise<boolean> = async () => false,
): Promise<void> {
  for (const name of await readdir(folder)) {
    if (await isKnown(name)) continue;
    const path = join(folder, name);
    if (!(await isOver(name))) {
      const facts = await stat(path).catch(() => null);
      if (facts === null || now - facts.mtimeMs < MIN_AGE_MS) continue;
    }
    await rm(path, { recursive: true, force: true });
  }
}
