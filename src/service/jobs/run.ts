/** One attempt at one job, from its row to its recorded end. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stage, Work } from '../../engines/engine.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import type { JobRequest } from '../../protocol/requests.ts';
import { decodeSrt } from '../../protocol/srt.ts';
import type { Context } from '../context.ts';
import { FOLDER_MODE } from '../folders.ts';
import { fetchMaterial, sourceAddress } from '../outgoing/source-material.ts';
import type { Lease } from '../running/leases.ts';
import { finishJob } from './finish.ts';
import { quantityOf, type Size } from './metering.ts';
import { createProgress } from './progress.ts';
import { shelve } from './results.ts';
import { carryOut, type Made, type Material } from './tasks.ts';

interface Row {
  readonly kind: JobKind;
  readonly request: string;
  readonly started_at: number;
  readonly file: string | null;
  readonly quantity: number;
}

/**
 * Runs a job that this process has leased, and records its success.
 * @param owner name of this process in leases
 * @throws whatever the engine throws; LeaseLost and ShuttingDown by way of the signal; JobFailure DEADLINE_EXCEEDED
 */
export async function runJob(
  context: Context,
  owner: string,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const row = begin(context, lease);
  if (row === undefined) return;
  // A name of its own for every attempt: one that was taken over may still be writing.
  const folder = `${lease.id}-${randomUUID()}`;
  const workFolder = join(context.folders.work, folder);
  const assetFolder = join(context.folders.assets, folder);
  const deadline = watchDeadline(context, row.started_at);
  const stopped = AbortSignal.any([signal, deadline.signal]);
  let kept = false;
  // An engine may still report when its work has ended, and the store may be closed by then.
  let over = false;
  try {
    await mkdir(workFolder, { mode: FOLDER_MODE });
    const write = (percent: number, stage: Stage | null) => {
      if (!over) record(context, lease.id, owner, percent, stage);
    };
    const work = { signal: stopped, folder: workFolder, report: createProgress(write, context.clock) };
    const { made, size } = await make(context, row, work);
    stopped.throwIfAborted();
    const assets = await shelve({ workFolder, assetFolder }, row.kind, made.products);
    kept = finishJob(context, lease.id, owner, {
      status: 'succeeded',
      result: { assets, values: made.values },
      folder,
      quantity: settledQuantity(row, made, size),
    });
  } catch (error) {
    // An engine that was stopped may blame the program that it had to kill.
    stopped.throwIfAborted();
    throw error;
  } finally {
    over = true;
    deadline.cancel();
    await rm(workFolder, { recursive: true, force: true });
    if (!kept && !isRecorded(context, folder)) await rm(assetFolder, { recursive: true, force: true });
  }
}

/** A transaction may have failed after it was written; where that cannot be told, the sweep removes what is nobody's. */
function isRecorded(context: Context, folder: string): boolean {
  try {
    return context.store.get('SELECT 1 FROM jobs WHERE folder = ?', folder) !== undefined;
  } catch {
    return true;
  }
}

/** Marks the job as processing and reads what the attempt needs; undefined when it is gone. */
function begin(context: Context, lease: Lease): Row | undefined {
  const now = context.clock.now();
  return context.store.transaction(() => {
    context.store.run(
      `UPDATE jobs SET status = 'processing', started_at = coalesce(started_at, ?), updated_at = ?
       WHERE id = ? AND status IN ('queued', 'processing')`,
      now,
      now,
      lease.id,
    );
    return context.store.get<Row>(
      `SELECT jobs.kind, jobs.request, jobs.started_at, uploads.file, bills.quantity
       FROM jobs JOIN bills ON bills.job_id = jobs.id LEFT JOIN uploads ON uploads.id = jobs.upload_id
       WHERE jobs.id = ? AND jobs.status = 'processing'`,
      lease.id,
    );
  });
}

function watchDeadline(context: Context, startedAt: number): { signal: AbortSignal; cancel: () => void } {
  const controller = new AbortController();
  const hours = context.config.jobDeadlineMs / 3_600_000;
  const failure = new JobFailure('DEADLINE_EXCEEDED', `the job did not end within ${hours} hours`);
  const left = startedAt + context.config.jobDeadlineMs - context.clock.now();
  const cancel = context.clock.schedule(Math.max(0, left), () => controller.abort(failure));
  return { signal: controller.signal, cancel };
}

/** Never throws: a report that is not recorded is no reason to end the work. */
function record(context: Context, id: string, owner: string, percent: number, stage: Stage | null): void {
  try {
    context.store.run(
      `UPDATE jobs SET progress = max(progress, ?), stage = coalesce(?, stage), updated_at = ?
       WHERE id = ? AND lease_owner = ? AND status = 'processing'`,
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

/** `size` is null for an input that was measured before the job was made. */
async function make(context: Context, row: Row, work: Work): Promise<{ made: Made; size: Size | null }> {
  // It was checked against the schema of this kind before it was stored.
  const request: JobRequest = JSON.parse(row.request);
  const address = sourceAddress(request);
  const { material, size } =
    address === null
      ? { material: await findMaterial(context, request, row.file), size: null }
      : await fetchMaterial(context, address, work);
  return { made: await carryOut(await context.engines(), row.kind, request, material, work), size };
}

async function findMaterial(context: Context, request: JobRequest, file: string | null): Promise<Material> {
  if ('subtitle' in request && request.subtitle.type === 'lines') {
    return { video: '', lines: request.subtitle.lines };
  }
  if (file === null) throw new JobFailure('STORAGE_ERROR', 'the uploaded file is gone; upload it again');
  const path = join(context.folders.uploads, file);
  if ('source' in request) return { video: path, lines: [] };
  return { video: '', lines: decodeSrt(await readFile(path)) };
}

/** Translation is metered by the lines it made, the others by what was put in. */
function settledQuantity(row: Row, made: Made, size: Size | null): number {
  const { unit } = KINDS[row.kind];
  const { lines } = made.values;
  if (unit === 'line' && Array.isArray(lines)) return lines.length;
  return size === null ? row.quantity : quantityOf(unit, size);
}
