/** The worker that runs jobs from `queued` to their end: attempts, deadline, progress. Source: contract, "Jobs". */

import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFull } from '../../base/system-error.ts';
import type { Stage, StageSharing, Work } from '../../media/work.ts';
import { type JobErrorCode, JobFailure } from '../../protocol/job-failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { type InputSize, quantityOf } from '../../protocol/metering.ts';
import type { JobRequest } from '../../protocol/request-types.ts';
import { decodeSrt } from '../../protocol/srt.ts';
import { type Clock, sleepFor } from '../clock.ts';
import type { ServiceContext } from '../context.ts';
import { raiseReservation } from '../credits/billing.ts';
import { DISK_FAILURE_DETAIL, FOLDER_MODE, nameAttempt, removeWork } from '../folders.ts';
import { Refusal } from '../http/refusal.ts';
import { OPEN_STATUSES } from '../job-statuses.ts';
import type { Lease, Leases } from '../running/leases.ts';
import {
  CrashedTooOften,
  type LeaseWorker,
  type Lend,
  retryDelayMs,
  startWorker,
} from '../running/worker.ts';
import { NoRoom } from '../storage/storage.ts';
import { DatabaseAway } from '../store/store.ts';
import { fetchMaterial, sourceAddress } from './fetch-source.ts';
import { finishJob } from './finish.ts';
import { storeFiles } from './results.ts';
import { carryOut, checkJobExport, type JobInputs, type JobOutputs } from './tasks.ts';

/**
 * Starts the worker. It also takes over the jobs of processes that died.
 * @param onEnd called when a job may have ended
 */
export function startExecution(
  context: ServiceContext,
  leases: Leases,
  owner: string,
  onEnd: () => void,
): LeaseWorker {
  const { config, clock, log } = context;
  return startWorker({
    leases,
    clock,
    log,
    slots: config.workers,
    onStuck: context.onStuck,
    async work(lease, signal, lend) {
      await runJob(context, owner, { lease, signal, lend });
      onEnd();
    },
    async fail(lease, error) {
      const failure = verdictOf(error);
      if (failure === null && lease.attempt < config.attempts) {
        log({
          level: 'warn',
          message: 'an attempt failed; the job is tried again',
          resourceId: lease.id,
          error,
        });
        await leases.release(lease.id, {
          runAfter: clock.now() + retryDelayMs(lease.attempt),
          counted: true,
        });
        return;
      }
      log({ level: 'error', message: 'a job failed', resourceId: lease.id, error });
      const { code, message } = failure ?? lastFailure(error, config.attempts);
      await finishJob(context, lease.id, owner, { status: 'failed', code, message });
      onEnd();
    },
  });
}

const WHILE_WORKING = 'while it worked on this job; its log has these times under the id of the job';

function interruptedJobFailure(attempts: number): JobFailure {
  return new JobFailure(
    'ENGINE_ERROR',
    `the work failed after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}; the log of the service has the cause under the id of this job`,
  );
}

/** The message of a failed engine may be shown to the caller; the message of an unexpected error may not. */
function lastFailure(error: unknown, attempts: number): JobFailure {
  if (error instanceof NoRoom) return new JobFailure('STORAGE_ERROR', error.message);
  return error instanceof JobFailure ? error : interruptedJobFailure(attempts);
}

/** Temporary failures: a child process may have run out of memory, a source may have been busy. */
const TEMPORARY: readonly JobErrorCode[] = ['ENGINE_ERROR', 'SOURCE_UNREACHABLE'];

/** Returns the failure that ends a job immediately; null if another attempt may succeed. */
function verdictOf(error: unknown): JobFailure | null {
  if (error instanceof CrashedTooOften)
    return new JobFailure('ENGINE_ERROR', `${error.message} ${WHILE_WORKING}`);
  if (error instanceof JobFailure) return TEMPORARY.includes(error.code) && !error.permanent ? null : error;
  return null;
}

interface Row {
  readonly kind: JobKind;
  readonly key_id: string;
  readonly request: string;
  readonly created_at: number;
  readonly deadline_at: number;
  readonly file: string | null;
  readonly etag: string | null;
  readonly sha256: string | null;
  readonly size_bytes: number | null;
  /** When the uploaded file is deleted, in ms since 1970. */
  readonly upload_expires_at: number | null;
  readonly quantity: number;
}

interface Attempt {
  readonly lease: Lease;
  readonly signal: AbortSignal;
  readonly lend: Lend;
}

/**
 * Runs one attempt at a job that this process has leased, and records its success.
 * @param owner name of this process in leases
 * @throws errors of the engine; LeaseLost and ShuttingDown through the signal; JobFailure DEADLINE_EXCEEDED
 */
async function runJob(
  context: ServiceContext,
  owner: string,
  { lease, signal, lend }: Attempt,
): Promise<void> {
  const row = await begin(context, lease);
  if (row === undefined) return;
  // Each attempt has its own folder, because an earlier attempt that lost its lease may still be writing.
  const folder = nameAttempt(lease.id, owner);
  const workFolder = join(context.folders.work, folder);
  const { storage } = context;
  const deadline = watchDeadline(context, row.deadline_at);
  const stopped = AbortSignal.any([signal, deadline.signal]);
  let kept = false;
  let isStoring = false;
  let giveBackRoom = () => {};
  // An engine may still report after its work has ended, when the store may already be closed.
  let over = false;
  try {
    if (lease.takenFrom !== null) {
      await removeWork(context.folders, lease.id);
      await storage.removeResultsOf(lease.id);
    }
    giveBackRoom = await keepRoom(context, row);
    await mkdir(workFolder, { mode: FOLDER_MODE });
    const write = (percent: number, stage: Stage | null) => {
      if (!over) void record(context, lease.id, owner, percent, stage);
    };
    const report = createProgress(write, context.clock);
    const atMs = context.clock.now();
    const work = { signal: stopped, folder: workFolder, report, atMs, ...sharingOf(context, row, lend) };
    const { made, size } = await make(context, lease.id, row, work);
    stopped.throwIfAborted();
    isStoring = true;
    const assets = await storeFiles(storage, work, folder, row.kind, made.products);
    const quantity = settledQuantity(row, made, size);
    const { values, provenance } = made;
    const result = { assets, values, provenance };
    kept = await untilRecorded(context, stopped, () =>
      finishJob(context, lease.id, owner, { status: 'succeeded', result, folder, quantity }),
    );
    if (kept) context.log({ level: 'info', message: 'a job succeeded', resourceId: lease.id, provenance });
  } catch (error) {
    // A stopped engine may report the program that was killed as the cause.
    stopped.throwIfAborted();
    if (!isNoRoom(error)) throw error;
    // The files of this attempt do not count as used.
    await rm(workFolder, { recursive: true, force: true });
    throw await explainNoRoom(context, error);
  } finally {
    over = true;
    deadline.cancel();
    giveBackRoom();
    await rm(workFolder, { recursive: true, force: true });
    if (isStoring && !kept && !(await isRecorded(context, folder))) await discardResult(context, folder);
  }
}

/** Keeps room for the copy of an upload that is not on this machine. @throws StorageAway if there is not enough now */
async function keepRoom({ storage, scratch }: ServiceContext, { file, size_bytes: bytes }: Row) {
  const isCopied = file !== null && storage.pathOf(file) === null;
  return isCopied ? scratch.reserve(bytes ?? 0) : () => {};
}

/** Never throws: the sweep removes what is left. */
async function discardResult({ storage, log }: ServiceContext, folder: string): Promise<void> {
  try {
    await storage.removeResult(folder);
  } catch (error) {
    log({ level: 'warn', message: 'the files of an attempt were not removed yet', error });
  }
}

/** Lets the job share stages with others of its key, until its source is deleted. */
function sharingOf(context: ServiceContext, row: Row, lend: Lend): { sharing?: StageSharing } {
  if (context.config.stageCacheBytes === 0) return {};
  const expiresAt = Math.min(
    row.created_at + LIMITS.retentionMs,
    row.upload_expires_at ?? Number.POSITIVE_INFINITY,
  );
  return { sharing: context.stages.forJob({ keyId: row.key_id, expiresAt, lend }) };
}

function isNoRoom(error: unknown): boolean {
  // Without a cause, it is about a file that is missing.
  const isStorageFailure =
    error instanceof JobFailure && error.code === 'STORAGE_ERROR' && error.cause !== undefined;
  return isStorageFailure || isDiskFull(error);
}

/** Results that are kept for other jobs must not fill the disk for this one. @returns the failure to retry */
async function explainNoRoom(context: ServiceContext, cause: unknown): Promise<JobFailure | NoRoom> {
  if (await context.stages.empty()) return new JobFailure('ENGINE_ERROR', DISK_FAILURE_DETAIL, { cause });
  return new NoRoom(DISK_FAILURE_DETAIL, { isOfJob: !(await context.scratch.isFull()), cause });
}

/** Computing a result again takes longer than a restart of the database. */
const RECORD_TRIES = 300;
const RECORD_WAIT_MS = 1000;

/** Records the end of a job again while the database is away. A try whose answer was lost changes nothing the next time. */
async function untilRecorded<Result>(
  { clock, log }: ServiceContext,
  signal: AbortSignal,
  record: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await record();
    } catch (error) {
      if (!(error instanceof DatabaseAway) || tries === RECORD_TRIES) throw error;
      if (tries === 1)
        log({ level: 'warn', message: 'a result is not recorded yet; it is tried again', error });
      await sleepFor(clock, RECORD_WAIT_MS, signal);
    }
  }
}

/** A transaction may fail after it was written. If that cannot be checked, the sweep removes orphaned files. */
async function isRecorded({ store }: ServiceContext, folder: string): Promise<boolean> {
  try {
    return (await store.get('SELECT 1 FROM jobs WHERE folder = ?', folder)) !== undefined;
  } catch {
    return true;
  }
}

/** Marks the job as processing and reads the data for the attempt. Returns undefined if the job no longer exists. */
function begin(context: ServiceContext, lease: Lease): Promise<Row | undefined> {
  const now = context.clock.now();
  return context.store.transaction(async (tx) => {
    await tx.run(
      // The time since the last sign of work does not count: no service may have run since then.
      `UPDATE jobs SET status = 'processing', started_at = coalesce(started_at, ?1), updated_at = ?1,
         deadline_at = coalesce(deadline_at + CASE WHEN ?1 > updated_at THEN ?1 - updated_at ELSE 0 END,
           coalesce(started_at, ?1) + ?2)
       WHERE id = ?3 AND status IN ${OPEN_STATUSES}`,
      now,
      context.config.jobDeadlineMs,
      lease.id,
    );
    return tx.get<Row>(
      `SELECT jobs.kind, jobs.key_id, jobs.request, jobs.created_at, jobs.deadline_at, uploads.file,
         uploads.etag, uploads.sha256, uploads.size_bytes, uploads.expires_at AS upload_expires_at, bills.quantity
       FROM jobs JOIN bills ON bills.job_id = jobs.id LEFT JOIN uploads ON uploads.id = jobs.upload_id
       WHERE jobs.id = ? AND jobs.status = 'processing'`,
      lease.id,
    );
  });
}

function watchDeadline(
  context: ServiceContext,
  deadlineAt: number,
): { signal: AbortSignal; cancel: () => void } {
  const controller = new AbortController();
  const hours = context.config.jobDeadlineMs / 3_600_000;
  const failure = new JobFailure('DEADLINE_EXCEEDED', `the job did not end within ${hours} hours`);
  const left = deadlineAt - context.clock.now();
  const cancel = context.clock.schedule(Math.max(0, left), () => controller.abort(failure));
  return { signal: controller.signal, cancel };
}

/** Never throws: the work continues if its progress cannot be recorded. */
async function record(
  context: ServiceContext,
  id: string,
  owner: string,
  percent: number,
  stage: Stage | null,
): Promise<void> {
  try {
    await context.store.run(
      `UPDATE jobs SET progress = CASE WHEN progress < ?1 THEN ?1 ELSE progress END,
         stage = coalesce(?2, stage), updated_at = ?3
       WHERE id = ?4 AND lease_owner = ?5 AND status = 'processing'`,
      percent,
      stage,
      context.clock.now(),
      id,
      owner,
    );
  } catch (error) {
    context.log({ level: 'warn', message: 'progress was not recorded', resourceId: id, error });
  }
}

/** `size` is null for an input that was measured before the job was created. */
async function make(
  context: ServiceContext,
  id: string,
  row: Row,
  work: Work,
): Promise<{ made: JobOutputs; size: InputSize | null }> {
  // It was checked against the schema of this kind before it was stored.
  const request: JobRequest = JSON.parse(row.request);
  const address = sourceAddress(request);
  const { material, size } =
    address === null
      ? { material: await findMaterial(context, request, row, work), size: null }
      : await fetchMaterial(context, address, work);
  if (size !== null) await reserveMeasured(context, id, row, size);
  const engines = await context.engines();
  // A node that accepted the job may have no engines to check it with, and not the picture.
  if ('resolution' in request && (size !== null || context.isShared)) {
    await checkJobExport(engines, request, material.video, work.signal);
  }
  return { made: await carryOut(engines, row.kind, request, material, work), size };
}

/**
 * Reserves the credits for a source that is larger than was assumed when the job was created.
 * @throws JobFailure SOURCE_TOO_LARGE if the account or the key cannot pay them
 */
async function reserveMeasured(
  { store, clock }: ServiceContext,
  jobId: string,
  row: Row,
  size: InputSize,
): Promise<void> {
  const quantity = quantityOf(KINDS[row.kind].unit, size);
  if (quantity <= row.quantity) return;
  try {
    await store.transaction((tx) => raiseReservation(tx, { jobId, quantity }, clock.now()));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const message = `the source is larger than was reserved for it: ${error.message}; create the job again with enough credits`;
    throw new JobFailure('SOURCE_TOO_LARGE', message, { cause: error });
  }
}

async function findMaterial(
  context: ServiceContext,
  request: JobRequest,
  { file, etag, sha256, size_bytes }: Row,
  work: Work,
): Promise<JobInputs> {
  if ('subtitle' in request && request.subtitle.type === 'lines') {
    return { video: '', lines: request.subtitle.lines };
  }
  if (file === null || size_bytes === null)
    throw new JobFailure('STORAGE_ERROR', 'the uploaded file is gone; upload it again');
  const path = await context.storage.fetchUpload({ file, etag, sha256, size_bytes }, work);
  if ('source' in request) return { video: path, lines: [] };
  return { video: '', lines: decodeSrt(await readFile(path)) };
}

/** Translation is metered by its output lines, the other kinds by their input. */
function settledQuantity(row: Row, made: JobOutputs, size: InputSize | null): number {
  const { unit } = KINDS[row.kind];
  const { lines } = made.values;
  if (unit === 'line' && Array.isArray(lines)) return lines.length;
  return size === null ? row.quantity : quantityOf(unit, size);
}

/** Callers poll every second or two, and writing every report of an engine would wear out the disk. */
const MIN_INTERVAL_MS = 1000;
/** 100 is reserved for finished jobs. */
const MAX_RUNNING_PERCENT = 99;

/**
 * Creates the receiver of an engine's progress reports.
 * @param write receives whole percents that never decrease, at most once per second, but immediately for a new stage
 */
export function createProgress(
  write: (percent: number, stage: Stage | null) => void,
  clock: Pick<Clock, 'now'>,
): (fraction: number, stage?: Stage) => void {
  let writtenAt = Number.NEGATIVE_INFINITY;
  let highest = 0;
  let current: Stage | null = null;
  return (fraction, stage) => {
    const percent = Math.min(MAX_RUNNING_PERCENT, Math.floor(fraction * 100));
    const entered = stage !== undefined && stage !== current;
    const due = percent > highest && clock.now() - writtenAt >= MIN_INTERVAL_MS;
    if (!entered && !due) return;
    highest = Math.max(highest, percent);
    current = stage ?? current;
    writtenAt = clock.now();
    write(highest, current);
  };
}
