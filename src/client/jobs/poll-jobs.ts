/** Polls several jobs of one kind with few requests. */

import { Failure } from '../../base/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import { readJob } from '../read/job.ts';
import type { Job, JobSummary, ListPage } from '../read/resources.ts';
import { isTemporary } from './poll.ts';

/** The operations of the client that polling needs. */
export interface JobReader {
  get(kind: JobKind, id: string, options: CallOptions): Promise<Job>;
  list(
    kind: JobKind,
    page: { limit: number; cursor: string | undefined },
    options: CallOptions,
  ): Promise<ListPage<JobSummary>>;
}

/** Called for each job as soon as its state is known. */
export interface PollHandlers {
  /** The job has ended; its result is read next. */
  ended(id: string): void;
  /** The job as it is now, or the failure of one that can never be read. */
  found(id: string, job: Job | Failure): void;
}

/** Concurrent requests for single jobs: several rarely end at the same time. */
const SIDE_BY_SIDE = 4;

/**
 * Reads jobs of one kind from the list, then those that have ended one by one, since only that reports their result. The
 * list entries of the others have no stage.
 * @throws Failure (`temporary`), the reason of the signal; handlers that were called before stay valid
 */
export async function pollJobs(
  jobs: JobReader,
  kind: JobKind,
  ids: readonly string[],
  limits: CallOptions,
  handlers: PollHandlers,
): Promise<void> {
  const summaries = ids.length > 1 ? await readSummaries(jobs, kind, ids, limits) : new Map();
  const unread: string[] = [];
  for (const id of ids) {
    const summary = summaries.get(id);
    if (summary === undefined) {
      unread.push(id);
    } else if (isTerminal(summary.status)) {
      handlers.ended(id);
      unread.push(id);
    } else {
      handlers.found(id, readJob(kind, summary, null));
    }
  }
  for (let from = 0; from < unread.length; from += SIDE_BY_SIDE) {
    const some = unread.slice(from, from + SIDE_BY_SIDE);
    const reads = await Promise.allSettled(
      some.map(async (id) => handlers.found(id, await readOne(jobs, kind, id, limits))),
    );
    const failed = reads.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}

async function readOne(
  jobs: JobReader,
  kind: JobKind,
  id: string,
  limits: CallOptions,
): Promise<Job | Failure> {
  try {
    return await jobs.get(kind, id, limits);
  } catch (error) {
    if (error instanceof Failure && !isTemporary(error)) return error;
    throw error;
  }
}

/** Reads pages of the list while a page costs less than requesting each missing job. */
async function readSummaries(
  jobs: JobReader,
  kind: JobKind,
  ids: readonly string[],
  limits: CallOptions,
): Promise<ReadonlyMap<string, JobSummary>> {
  const missing = new Set(ids);
  const found = new Map<string, JobSummary>();
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await listPage(jobs, kind, cursor, limits);
    pages += 1;
    for (const summary of page?.data ?? []) {
      if (missing.delete(summary.id)) found.set(summary.id, summary);
    }
    cursor = page?.next_cursor ?? undefined;
  } while (cursor !== undefined && missing.size > 1 && pages < ids.length);
  return found;
}

/** Null for a refused list: a key may be allowed to read a job but not to list jobs. */
async function listPage(jobs: JobReader, kind: JobKind, cursor: string | undefined, limits: CallOptions) {
  try {
    return await jobs.list(kind, { limit: LIMITS.pageSize.max, cursor }, limits);
  } catch (error) {
    if (error instanceof Failure && !isTemporary(error)) return null;
    throw error;
  }
}
