/** How several jobs of one kind are, with as few requests as that takes. */
import type { JobKind } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import { Failure } from '../failure.ts';
import { readJob } from '../read/job.ts';
import type { Job, JobSummary, ListPage } from '../read/resources.ts';

/** The two operations that it takes. */
export interface LookAtJobs {
  get(kind: JobKind, id: string, options: CallOptions): Promise<Job>;
  list(
    kind: JobKind,
    page: { limit: number; cursor: string | undefined },
    options: CallOptions,
  ): Promise<ListPage<JobSummary>>;
}

/**
 * The jobs by their ids. Those that have ended are read one by one, since only that tells of their result; what a list
 * tells of the others has no stage. A job that cannot be read for good has its failure.
 * @throws Failure (`temporary`), the reason of the signal
 */
export async function lookAtJobs(
  jobs: LookAtJobs,
  kind: JobKind,
  ids: readonly string[],
  limits: CallOptions,
): Promise<ReadonlyMap<string, Job | Failure>> {
  const summaries = ids.length > 1 ? await readSummaries(jobs, kind, ids, limits) : new Map();
  const found = new Map<string, Job | Failure>();
  const single = async (id: string) => {
    try {
      found.set(id, await jobs.get(kind, id, limits));
    } catch (error) {
      if (!(error instanceof Failure) || error.facts.category === 'temporary') throw error;
      found.set(id, error);
    }
  };
  const unread: string[] = [];
  for (const id of ids) {
    const summary = summaries.get(id);
    if (summary === undefined || isTerminal(summary.status)) unread.push(id);
    else found.set(id, readJob(kind, summary, null));
  }
  for (const id of unread) await single(id);
  return found;
}

/** Pages of the list, as long as one costs less than asking for each job that is still missing. */
async function readSummaries(
  jobs: LookAtJobs,
  kind: JobKind,
  ids: readonly string[],
  limits: CallOptions,
): Promise<ReadonlyMap<string, JobSummary>> {
  const missing = new Set(ids);
  const found = new Map<string, JobSummary>();
  let cursor: string | undefined;
  for (let pages = 0; missing.size > 1 && pages < ids.length; pages += 1) {
    const page = await listPage(jobs, kind, cursor, limits);
    for (const summary of page?.data ?? []) {
      if (missing.delete(summary.id)) found.set(summary.id, summary);
    }
    if (page?.next_cursor == null) break;
    cursor = page.next_cursor;
  }
  return found;
}

/** Null for a list that is refused: a key may be allowed to read a job and not to list them. */
async function listPage(jobs: LookAtJobs, kind: JobKind, cursor: string | undefined, limits: CallOptions) {
  try {
    return await jobs.list(kind, { limit: LIMITS.pageSize.max, cursor }, limits);
  } catch (error) {
    if (error instanceof Failure && error.facts.category !== 'temporary') return null;
    throw error;
  }
}
