/** Waits for many jobs together: one list request covers all of a kind. Source: performance figures, "Waiting". */
import { describeDuration } from '../../base/amounts.ts';
import { Failure } from '../../base/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import { readJob } from '../read/job.ts';
import type { Job, JobSummary, ListPage } from '../read/resources.ts';
import type { ClientContext } from '../transport/context.ts';
import { pauseFor } from '../transport/retry.ts';
import {
  addFailedPoll,
  createChangeReporter,
  type FailedPolls,
  GRACE_MS,
  growingPause,
  isGivenUp,
  isTemporary,
  pollFailure,
  sharedPause,
  stillOpen,
  stillRunningFailure,
  type WaitOptions,
} from './poll.ts';

/**
 * Returns a `wait` whose callers share their requests.
 * @throws (the promises that it returns) as `waitForJob`
 */
export function createSharedPoller(
  context: ClientContext,
  jobs: JobReader,
): (kind: JobKind, id: string, options?: WaitOptions) => Promise<Job> {
  const pollers = new Map<JobKind, (id: string, options: WaitOptions) => Promise<Job>>();
  return (kind, id, options = {}) => {
    const wait = pollers.get(kind) ?? createKindPoller(context, jobs, kind);
    pollers.set(kind, wait);
    return wait(id, options);
  };
}

/** A call of `wait` that has not ended, with its promise. Times on the clock of the runtime. */
interface Waiter {
  readonly id: string;
  readonly options: WaitOptions;
  readonly sinceMs: number;
  /** When the wait times out. */
  readonly endMs: number;
  /** Not polled yet: poll it now. */
  isNew: boolean;
  /** Known to have ended; its result is not read yet. */
  hasEnded: boolean;
  readonly report: (job: Job) => void;
  readonly resolve: (job: Job) => void;
  readonly reject: (reason: unknown) => void;
  /** Stops listening to the signal. */
  readonly forget: () => void;
}

/** Polls while at least one caller waits. */
function createKindPoller({ runtime, emit }: ClientContext, jobs: JobReader, kind: JobKind) {
  const waiters = new Set<Waiter>();
  /** How long jobs take, the last ones counting most. */
  let typicalMs = 0;
  /** When the last one ended, or the first one was waited for. */
  let quietSinceMs = 0;
  let failed: FailedPolls | null = null;
  let polledAtMs = 0;
  let waker = new AbortController();
  let working = false;

  function leave(waiter: Waiter): boolean {
    waiter.forget();
    return waiters.delete(waiter);
  }

  async function poll(): Promise<void> {
    const present = [...waiters];
    const limits: CallOptions = {
      signal: present[0]?.options.signal,
      deadline: Math.max(...present.map(({ endMs }) => endMs)) + GRACE_MS,
    };
    const waitingFor = (id: string) => present.filter((waiter) => waiter.id === id && waiters.has(waiter));
    for (const waiter of present) waiter.isNew = false;
    try {
      const ids = [...new Set(present.map(({ id }) => id))];
      await pollJobs(jobs, kind, ids, limits, {
        ended: (id) => waitingFor(id).forEach(reportEnd),
        found(id, found) {
          for (const waiter of waitingFor(id)) reportFound(waiter, found);
        },
      });
      failed = null;
    } catch (error) {
      fail(present, error);
    }
  }

  function reportFound(waiter: Waiter, found: Job | Failure): void {
    if (found instanceof Failure) {
      if (leave(waiter)) waiter.reject(found);
      return;
    }
    if (isTerminal(found.status)) reportEnd(waiter);
    waiter.report(found);
    if (isTerminal(found.status) && leave(waiter)) waiter.resolve(found);
  }

  function reportEnd(waiter: Waiter): void {
    if (waiter.hasEnded) return;
    waiter.hasEnded = true;
    quietSinceMs = runtime.now();
    typicalMs = (typicalMs + quietSinceMs - waiter.sinceMs) / 2;
    waiter.options.onEnd?.();
  }

  function fail(present: readonly Waiter[], error: unknown): void {
    // The signal of a waiter that left has cut the request; poll the others again immediately.
    if (present.some(({ options }) => options.signal?.aborted)) {
      for (const waiter of present) waiter.isNew = true;
      return;
    }
    const now = runtime.now();
    let reason = error;
    if (isTemporary(error)) {
      failed = addFailedPoll(failed, error, now);
      if (!isGivenUp(failed, now)) {
        const delay = describeDuration(growingPause(now - failed.sinceMs));
        emit({ type: 'notice', code: 'POLL_FAILED', message: `${error.message}; looking again in ${delay}` });
        return;
      }
      reason = pollFailure(error);
    }
    for (const waiter of present) if (leave(waiter)) waiter.reject(reason);
  }

  function rejectOverdue(): void {
    const now = runtime.now();
    for (const waiter of [...waiters]) {
      if (now < waiter.endMs || !leave(waiter)) continue;
      waiter.reject(stillRunningFailure({ kind, id: waiter.id }, waiter.options.timeoutMs ?? 0));
    }
  }

  /** Milliseconds until the next poll: 0 for a job that nobody has seen. */
  function msUntilPoll(): number {
    const now = runtime.now();
    const all = [...waiters];
    if (failed === null && all.some(({ isNew }) => isNew)) return 0;
    const quietMs = polledAtMs - quietSinceMs;
    const shared =
      failed === null ? sharedPause(typicalMs, quietMs) : growingPause(polledAtMs - failed.sinceMs);
    const pauseMs = Math.min(...all.map(({ options }) => options.everyMs ?? shared));
    // A clock that was set back must not delay a poll.
    const left = Math.min(pauseMs, polledAtMs + pauseMs - now);
    return Math.max(0, Math.min(left, ...all.map(({ endMs }) => endMs - now)));
  }

  async function work(): Promise<void> {
    working = true;
    polledAtMs = runtime.now();
    quietSinceMs = polledAtMs;
    while (waiters.size > 0) {
      waker = new AbortController();
      const { signal } = waker;
      const ms = msUntilPoll();
      if (ms > 0) await pauseFor(runtime, ms, signal).catch(() => undefined);
      // A waiter came or left, so that the next poll must be planned again.
      if (signal.aborted) continue;
      await poll();
      polledAtMs = runtime.now();
      rejectOverdue();
    }
    working = false;
  }

  return (id: string, options: WaitOptions) =>
    new Promise<Job>((resolve, reject) => {
      const { signal, timeoutMs = Number.POSITIVE_INFINITY } = options;
      signal?.throwIfAborted();
      const sinceMs = runtime.now();
      const seen = stillOpen(options.seen);
      const report = createChangeReporter(options.onChange, seen);
      const abort = () => {
        if (leave(waiter)) reject(signal?.reason);
        waker.abort();
      };
      const forget = () => signal?.removeEventListener('abort', abort);
      const facts = {
        id,
        options,
        sinceMs,
        endMs: sinceMs + timeoutMs,
        isNew: seen === null,
        hasEnded: false,
      };
      const waiter: Waiter = { ...facts, report, resolve, reject, forget };
      signal?.addEventListener('abort', abort);
      waiters.add(waiter);
      waker.abort();
      // Waiters that are added in one tick share the first poll.
      if (!working) queueMicrotask(() => (working ? undefined : work()));
    });
}

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
