/** How several jobs of one kind are, with as few requests as that takes. */

import { Failure } from '../../errors/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import { readJob } from '../read/job.ts';
import type { Job, JobSummary, ListPage } from '../read/resources.ts';
import { isPassing } from './poll.ts';

/** The two operations that it takes. */
export interface LookAtJobs {
  get(kind: JobKind, id: string, options: CallOptions): Promise<Job>;
  list(
    kind: JobKind,
    page: { limit: number; cursor: string | undefined },
    options: CallOptions,
  ): Promise<ListPage<JobSummary>>;
}

/** A job that somebody waits for. */
export interface Wanted {
  readonly id: string;
  /** False: welcome if the list has it, and not worth a request of its own. */
  readonly isDue: boolean;
}

/** Called for each job as soon as it is known. */
export interface Findings {
  /** It has ended; how is read next. */
  ended(id: string): void;
  /** A job that cannot be read for good has its failure. */
  found(id: string, job: Job | Failure): void;
}

/** Jobs that are read one by one, so many side by side: that several end at once is rare. */
const SIDE_BY_SIDE = 4;

/**
 * Looks at jobs of one kind by one list. Those that have ended are then read one by one, since only that reports their
 * result; the list entries of the others have no stage.
 * @throws Failure (`temporary`), the reason of the signal; what was told before stands
 */
export async function lookAtJobs(
  jobs: LookAtJobs,
  kind: JobKind,
  wanted: readonly Wanted[],
  limits: CallOptions,
  findings: Findings,
): Promise<void> {
  const summaries = wanted.length > 1 ? await readSummaries(jobs, kind, wanted, limits) : new Map();
  const unread: string[] = [];
  for (const { id, isDue } of wanted) {
    const summary = summaries.get(id);
    if (summary === undefined) {
      if (isDue) unread.push(id);
    } else if (isTerminal(summary.status)) {
      findings.ended(id);
      unread.push(id);
    } else {
      findings.found(id, readJob(kind, summary, null));
    }
  }
  for (let from = 0; from < unread.length; from += SIDE_BY_SIDE) {
    const some = unread.slice(from, from + SIDE_BY_SIDE);
    const reads = await Promise.allSettled(
      some.map(async (id) => findings.found(id, await readOne(jobs, kind, id, limits))),
    );
    const failed = reads.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}

async function readOne(
  jobs: LookAtJobs,
  kind: JobKind,
  id: string,
  limits: CallOptions,
): Promise<Job | Failure> {
  try {
    return await jobs.get(kind, id, limits);
  } catch (error) {
    if (error instanceof Failure && !isPassing(error)) return error;
    throw error;
  }
}

/** Pages of the list, as long as one costs less than asking for each job that is due and still missing. */
async function readSummaries(
  jobs: LookAtJobs,
  kind: JobKind,
  wanted: readonly Wanted[],
  limits: CallOptions,
): Promise<ReadonlyMap<string, JobSummary>> {
  const ids = new Set(wanted.map(({ id }) => id));
  const missing = new Set(wanted.filter(({ isDue }) => isDue).map(({ id }) => id));
  const found = new Map<string, JobSummary>();
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await listPage(jobs, kind, cursor, limits);
    pages += 1;
    for (const summary of page?.data ?? []) {
      if (ids.has(summary.id)) found.set(summary.id, summary);
      missing.delete(summary.id);
    }
    cursor = page?.next_cursor ?? undefined;
  } while (cursor !== undefined && missing.size > 1 && pages < ids.size);
  return found;
}

/** Null for a list that is refused: a key may be allowed to read a job and not to list them. */
async function listPage(jobs: LookAtJobs, kind: JobKind, cursor: string | undefined, limits: CallOptions) {
  try {
    return await jobs.list(kind, { limit: LIMITS.pageSize.max, cursor }, limits);
  } catch (error) {
    if (error instanceof Failure && !isPassing(error)) return null;
    throw error;
  }
}
