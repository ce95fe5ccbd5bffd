/** The worker that brings jobs from `queued` to their end. Source: contract, "Jobs". */

import { isDiskFull } from '../../errors/system-error.ts';
import { type JobErrorCode, JobFailure } from '../../protocol/job-failure.ts';
import type { Context } from '../context.ts';
import { DISK_FAILURE_DETAIL } from '../files.ts';
import type { Leases } from '../running/leases.ts';
import { retryDelayMs } from '../running/retry-delay.ts';
import { startWorker, type Worker } from '../running/worker.ts';
import { finishJob } from './finish.ts';
import { runJob } from './run.ts';

/**
 * Starts the worker; it takes over the jobs of processes that died as well.
 * @param onEnd called when a job may have ended
 */
export function startExecution(context: Context, leases: Leases, owner: string, onEnd: () => void): Worker {
  const { config, clock, log } = context;
  return startWorker({
    leases,
    clock,
    log,
    slots: config.workers,
    async work(lease, signal) {
      if (lease.attempt > config.attempts) throw brokenOff(config.attempts);
      await runJob(context, owner, lease, signal);
      onEnd();
    },
    fail(lease, error) {
      const failure = verdictOf(error);
      if (failure === null && lease.attempt < config.attempts) {
        log({
          level: 'warn',
          message: 'an attempt failed; the job is tried again',
          resourceId: lease.id,
          error,
        });
        leases.release(lease.id, { runAfter: clock.now() + retryDelayMs(lease.attempt), counted: true });
        return;
      }
      log({ level: 'error', message: 'a job failed', resourceId: lease.id, error });
      const { code, message } = failure ?? lastFailure(error, config.attempts);
      finishJob(context, lease.id, owner, { status: 'failed', code, message });
      onEnd();
    },
  });
}

function brokenOff(attempts: number): JobFailure {
  return new JobFailure(
    'ENGINE_ERROR',
    `the work broke off ${attempts} times; the log of the service has the cause under the id of this job`,
  );
}

/** The words of an engine that failed are fit for the caller; those of an unforeseen error are not. */
function lastFailure(error: unknown, attempts: number): JobFailure {
  return error instanceof JobFailure ? error : brokenOff(attempts);
}

/** A child process may have been short of memory, a source may have been busy. */
const MENDABLE: readonly JobErrorCode[] = ['ENGINE_ERROR', 'SOURCE_UNREACHABLE'];

/** What ends a job at once; null for what another attempt may mend. */
function verdictOf(error: unknown): JobFailure | null {
  if (error instanceof JobFailure) return MENDABLE.includes(error.code) ? null : error;
  return isDiskFull(error) ? new JobFailure('STORAGE_ERROR', DISK_FAILURE_DETAIL) : null;
}
