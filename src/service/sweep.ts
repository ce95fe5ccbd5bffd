/** Removes expired data: first the files, then the records. Source: specification, "Limits" (retention). */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LIMITS } from '../protocol/limits.ts';
import { type Cancel, repeat } from './clock.ts';
import type { ServiceContext } from './context.ts';
import { finishJob } from './jobs/finish.ts';
import { expireUploads, UPLOAD_RECORD_MS } from './uploads/rows.ts';

interface Sweeper {
  /** Stops, and waits for a running sweep. */
  stop(): Promise<void>;
}

/** Expired data is refused immediately. Its files are removed within a minute. */
const INTERVAL_MS = 60_000;

/** Sweeps every minute, first after one minute, so that a short command does not pay for it. */
export function startSweeper(context: ServiceContext): Sweeper {
  let underWay: Promise<void> | null = null;
  const cancel: Cancel = repeat(context.clock, INTERVAL_MS, () => {
    underWay ??= sweep(context)
      .catch((error) => context.log({ level: 'error', message: 'sweeping failed; it is tried again', error }))
      .finally(() => {
        underWay = null;
      });
  });
  return {
    async stop() {
      cancel();
      await underWay;
    },
  };
}

/** Runs one sweep over all data. */
async function sweep(context: ServiceContext): Promise<void> {
  const now = context.clock.now();
  context.nonces.sweep(now);
  expireUploads(context, now);
  await removeUploadBytes(context);
  endForgottenJobs(context, now);
  await removeResults(context, now);
  removeRecords(context, now);
  await removeOrphans(context, now);
}

/** Removes files of expired uploads, unless a job still uses them. */
async function removeUploadBytes(context: ServiceContext): Promise<void> {
  const { store, folders } = context;
  const rows = store.all<{ id: string; file: string }>(
    `SELECT id, file FROM uploads WHERE status = 'expired' AND file IS NOT NULL AND NOT EXISTS
       (SELECT 1 FROM jobs WHERE upload_id = uploads.id AND jobs.status IN ('queued', 'processing'))`,
  );
  for (const { id, file } of rows) {
    await rm(join(folders.uploads, file), { force: true });
    store.run('UPDATE uploads SET file = NULL WHERE id = ?', id);
  }
}

/**
 * Ends jobs that did not run for seven days because the service was off. Releases their credits before their records
 * are removed.
 */
function endForgottenJobs(context: ServiceContext, now: number): void {
  const rows = context.store.all<{ id: string }>(
    `SELECT id FROM jobs WHERE status IN ('queued', 'processing') AND created_at <= ?`,
    now - LIMITS.retentionMs,
  );
  for (const { id } of rows) {
    const message = 'the job was not done before its record expired';
    finishJob(context, id, null, { status: 'failed', code: 'DEADLINE_EXCEEDED', message });
  }
}

async function removeResults(context: ServiceContext, now: number): Promise<void> {
  const { store, folders } = context;
  const rows = store.all<{ id: string; folder: string }>(
    'SELECT id, folder FROM jobs WHERE folder IS NOT NULL AND links_expire_at <= ?',
    now,
  );
  for (const { id, folder } of rows) {
    await rm(join(folders.assets, folder), { recursive: true, force: true });
    store.run('UPDATE jobs SET folder = NULL WHERE id = ?', id);
  }
}

/** One day: longer than all attempts to deliver the event of a job. Source: contract, "Webhooks" (delivery). */
const LAST_DELIVERY_MS = 24 * 60 * 60_000;

/**
 * Removes old records, but keeps bills and ledger: quotas count by month, and the ledger is the account. A job whose
 * event is still being delivered is kept until then, although callers can no longer read it.
 */
function removeRecords(context: ServiceContext, now: number): void {
  const { store } = context;
  const before = now - LIMITS.retentionMs;
  store.transaction(() => {
    store.run(
      `DELETE FROM jobs WHERE created_at <= ? AND folder IS NULL AND NOT EXISTS
         (SELECT 1 FROM deliveries WHERE job_id = jobs.id AND status = 'pending' AND deliveries.created_at > ?)`,
      before,
      now - LAST_DELIVERY_MS,
    );
    store.run('DELETE FROM idempotency WHERE created_at <= ?', before);
    store.run('DELETE FROM uploads WHERE created_at <= ? AND file IS NULL', now - UPLOAD_RECORD_MS);
  });
}

/** Twice the lifetime of an upload URL: no file exists longer than that without a record. */
const MIN_AGE_MS = 2 * 60 * 60_000;

/**
 * Removes files without a record, left by processes that died. Keeps recent files, whose record may still be written.
 */
async function removeOrphans(context: ServiceContext, now: number): Promise<void> {
  const { store, folders } = context;
  const known = (sql: string, value: string, ...more: number[]) =>
    store.get(sql, value, ...more) !== undefined;
  await removeFrom(folders.uploads, now, (name) => known('SELECT 1 FROM uploads WHERE file = ?', name));
  await removeFrom(folders.assets, now, (name) => known('SELECT 1 FROM jobs WHERE folder = ?', name));
  await removeFrom(folders.work, now, (name) =>
    known('SELECT 1 FROM jobs WHERE id = ? AND lease_until > ?', jobIdOf(name), now),
  );
}

/** The name of a work folder is the id of its job, `-`, and a part that is unique for each attempt. */
function jobIdOf(folder: string): string {
  return folder.split('-', 1)[0] ?? '';
}

async function removeFrom(folder: string, now: number, isKnown: (name: string) => boolean): Promise<void> {
  for (const name of await readdir(folder)) {
    if (isKnown(name)) continue;
    const path = join(folder, name);
    const facts = await stat(path).catch(() => null);
    if (facts === null || now - facts.mtimeMs < MIN_AGE_MS) continue;
    await rm(path, { recursive: true, force: true });
  }
}
