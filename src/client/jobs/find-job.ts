import { isApiAnswer } from '../../errors/failure.ts';
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import type { CallOptions } from '../call.ts';
import type { Job } from '../read/resources.ts';
import { isNotPermitted } from './not-permitted.ts';

type GetJob = (kind: JobKind, id: string, options: CallOptions) => Promise<Job>;

/**
 * Finds a job of unknown kind: asks all five kinds at once and takes the one that is there; the rest is cut short.
 * @throws Failure: not found when all say so that the key may see, else the first other failure, since the job may be
 *   behind it
 */
export async function findJob(get: GetJob, id: string, options: CallOptions): Promise<Job> {
  const found = new AbortController();
  const signals = options.signal === undefined ? [found.signal] : [options.signal, found.signal];
  const limits = { ...options, signal: AbortSignal.any(signals) };
  try {
    return await Promise.any(JOB_KIND_NAMES.map((kind) => get(kind, id, limits)));
  } catch (error) {
    options.signal?.throwIfAborted();
    throw mostTelling(error instanceof AggregateError ? error.errors : [error]);
  } finally {
    found.abort();
  }
}

/** A kind that the key may not see tells nothing of the job, unless there is no other. */
function mostTelling(errors: readonly unknown[]): unknown {
  const other = errors.find((error) => !isNotFound(error) && !isNotPermitted(error));
  return other ?? errors.find(isNotFound) ?? errors[0];
}

function isNotFound(error: unknown): boolean {
  return isApiAnswer(error, 404);
}
