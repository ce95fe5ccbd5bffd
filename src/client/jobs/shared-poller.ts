/** Waits for many jobs together: one list request covers all of a kind. Source: performance figures, "Waiting". */

import { describeDuration } from '../../base/amounts.ts';
import { Failure } from '../../base/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import type { ClientContext } from '../context.ts';
import type { Job } from '../read/resources.ts';
import { pause } from '../transport/retry.ts';
import { addFailedPoll, type FailedPolls, GRACE_MS, isGivenUp, isTemporary, pollFailure } from './poll.ts';
import { type JobReader, pollJobs } from './poll-jobs.ts';
import { growingPause, sharedPause } from './poll-schedule.ts';
import { createChangeReporter, stillOpen, stillRunningFailure, type WaitOptions } from './wait.ts';

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
        ended: (id) => waitingFor(id).forEach(tellEnd),
        found(id, found) {
          for (const waiter of waitingFor(id)) tell(waiter, found);
        },
      });
      failed = null;
    } catch (error) {
      fail(present, error);
    }
  }

  function tell(waiter: Waiter, found: Job | Failure): void {
    if (found instanceof Failure) {
      if (leave(waiter)) waiter.reject(found);
      return;
    }
    if (isTerminal(found.status)) tellEnd(waiter);
    waiter.report(found);
    if (isTerminal(found.status) && leave(waiter)) waiter.resolve(found);
  }

  function tellEnd(waiter: Waiter): void {
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
      if (ms > 0) await pause(runtime, ms, signal).catch(() => undefined);
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
