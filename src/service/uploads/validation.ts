/** The worker that brings uploads from `validating` to `ready` or `failed`. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { JobFailure } from '../../protocol/job-failure.ts';
import type { UploadPurpose } from '../../protocol/states.ts';
import type { Context } from '../context.ts';
import type { Lease, Leases } from '../running/leases.ts';
import { retryDelayMs } from '../running/retry-delay.ts';
import { startWorker, type Worker } from '../running/worker.ts';
import { type Finding, inspectSubtitle, inspectVideo } from './inspect.ts';

/** Validation decodes the whole video and so keeps a core busy; one at a time leaves the others to jobs. */
const SLOTS = 1;

/** Starts the worker; it takes up what another process left unfinished as well. */
export function startValidation(context: Context, leases: Leases): Worker {
  return startWorker({
    leases,
    clock: context.clock,
    log: context.log,
    slots: Math.min(SLOTS, context.config.workers),
    work: (lease, signal) => validate(context, lease, signal),
    fail(lease, error) {
      context.log({ level: 'error', message: 'a validation failed', resourceId: lease.id, error });
      if (lease.attempt >= context.config.attempts) {
        record(context, lease.id, lastFailure(error, context.config.attempts));
        return;
      }
      const runAfter = context.clock.now() + retryDelayMs(lease.attempt);
      leases.release(lease.id, { runAfter, counted: true });
    },
  });
}

async function validate(context: Context, lease: Lease, signal: AbortSignal): Promise<void> {
  const row = context.store.get<{ file: string; purpose: UploadPurpose }>(
    'SELECT file, purpose FROM uploads WHERE id = ?',
    lease.id,
  );
  if (row === undefined) return;
  const path = join(context.folders.uploads, row.file);
  const finding =
    lease.attempt > context.config.attempts
      ? brokenOff(context.config.attempts)
      : await inspect(context, row.purpose, path, signal);
  record(context, lease.id, finding);
  if (finding.status === 'failed') await rm(path, { force: true });
}

function brokenOff(attempts: number): Finding {
  const message = `validation broke off ${attempts} times; upload the file again`;
  return { status: 'failed', code: 'INTERNAL_ERROR', message };
}

/** The words of an engine that failed are fit for the caller; those of an unforeseen error are not. */
function lastFailure(error: unknown, attempts: number): Finding {
  if (!(error instanceof JobFailure)) return brokenOff(attempts);
  return { status: 'failed', code: 'INTERNAL_ERROR', message: error.message };
}

async function inspect(
  context: Context,
  purpose: UploadPurpose,
  path: string,
  signal: AbortSignal,
): Promise<Finding> {
  if (purpose === 'subtitle_file') return inspectSubtitle(path);
  return inspectVideo(await context.engines(), path, signal);
}

function record(context: Context, id: string, finding: Finding): void {
  const text = (value: unknown) => (value === null ? null : JSON.stringify(value));
  const facts =
    finding.status === 'ready'
      ? { media: finding.media, subtitle: finding.subtitle, error: null }
      : { media: null, subtitle: null, error: { code: finding.code, message: finding.message } };
  context.store.run(
    `UPDATE uploads SET status = ?1, media = ?2, subtitle = ?3, error = ?4, updated_at = ?5,
       file = CASE ?1 WHEN 'ready' THEN file END, lease_owner = NULL, lease_until = NULL
     WHERE id = ?6 AND status = 'validating'`,
    finding.status,
    text(facts.media),
    text(facts.subtitle),
    text(facts.error),
    context.clock.now(),
    id,
  );
}
