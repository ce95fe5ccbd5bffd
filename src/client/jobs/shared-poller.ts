/**
 * Waits for many jobs together: one list request per kind covers all of them, at 0.9 of the soonest expected end.
 * Source: performance figures, "Waiting".
 */

import { describeDuration } from '../../errors/amounts.ts';
import { Failure } from '../../errors/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import type { ClientContext } from '../context.ts';
import type { Job } from '../read/resources.ts';
import { pause } from '../transport/retry.ts';
import { addFailedPoll, type FailedPolls, GRACE_MS, gaveUp, isGivenUp, isTemporary } from './poll.ts';
import { type JobReader, type PollHandlers, pollJobs } from './poll-jobs.ts';
import {
  createWorkTimes,
  delayFor,
  growingDelay,
  LONGEST_MS,
  longestPause,
  SHORTEST_MS,
  type WorkTimes,
} from './poll-schedule.ts';
import { type JobTracker, stillOpen, stillRunning, trackJob, type WaitOptions } from './wait.ts';

/** A call of `wait` that has not ended, with its promise. */
interface Waiter extends PolledJob {
  readonly resolve: (job: Job) => void;
  readonly reject: (reason: unknown) => void;
  /** Stops listening to the signal. */
  readonly forget: () => void;
}

/**
 * Returns a `wait` whose callers share their requests. It polls while at least one caller waits.
 * @throws (the promises that it returns) as `waitForJob`
 */
export function createSharedPoller(
  context: ClientContext,
  jobs: JobReader,
): (kind: JobKind, id: string, options?: WaitOptions) => Promise<Job> {
  const { runtime, emit } = context;
  const waiters = new Set<Waiter>();
  const times = createWorkTimes();
  const failing = new Map<JobKind, FailedPolls>();
  let polledAtMs = runtime.now();
  let waker = new AbortController();
  let working = false;

  function leave(waiter: Waiter): boolean {
    waiter.forget();
    return waiters.delete(waiter);
  }

  async function pollKind(kind: JobKind): Promise<void> {
    const present = [...waiters].filter((waiter) => waiter.kind === kind);
    const limits: CallOptions = {
      signal: present[0]?.options.signal,
      deadline: Math.max(...present.map(({ endMs }) => endMs)) + GRACE_MS,
    };
    for (const waiter of present) waiter.isNew = false;
    const now = runtime.now();
    const wanted = present.map(({ id, dueMs }) => ({ id, isDue: present.length === 1 || dueMs <= now }));
    const findings: PollHandlers = {
      ended(id) {
        for (const waiter of waitingFor(present, id)) tellEnd(waiter);
      },
      found(id, found) {
        for (const waiter of waitingFor(present, id)) tell(waiter, found);
      },
    };
    try {
      await pollJobs(jobs, kind, wanted, limits, findings);
      failing.delete(kind);
    } catch (error) {
      fail(kind, present, error);
    }
  }

  /** The waiters for this job that have not left. */
  function waitingFor(present: readonly Waiter[], id: string): readonly Waiter[] {
    return present.filter((waiter) => waiter.id === id && waiters.has(waiter));
  }

  function tell(waiter: Waiter, found: Job | Failure): void {
    if (found instanceof Failure) {
      if (leave(waiter)) waiter.reject(found);
      return;
    }
    if (isTerminal(found.status)) tellEnd(waiter);
    waiter.tracker.see(found);
    waiter.tracker.tell(times);
    planNextPoll(waiter, times, runtime.now());
    if (isTerminal(found.status) && leave(waiter)) waiter.resolve(found);
  }

  function tellEnd(waiter: Waiter): void {
    if (!waiter.hasEnded) waiter.options.onEnd?.();
    waiter.hasEnded = true;
  }

  function fail(kind: JobKind, present: readonly Waiter[], error: unknown): void {
    // The signal of a waiter that left has cut the request; poll the others again immediately.
    if (present.some(({ options }) => options.signal?.aborted)) {
      for (const waiter of present) waiter.isNew = true;
      return;
    }
    const now = runtime.now();
    let reason = error;
    if (isTemporary(error)) {
      const failed = addFailedPoll(failing.get(kind) ?? null, error, now);
      failing.set(kind, failed);
      if (!isGivenUp(failed, now)) {
        const delay = growingDelay(now - failed.sinceMs);
        for (const waiter of present) waiter.dueMs = now + delay;
        const message = `${error.message}; looking again in ${describeDuration(delay)}`;
        emit({ type: 'notice', code: 'POLL_FAILED', message });
        return;
      }
      reason = gaveUp(error);
    }
    for (const waiter of present) if (leave(waiter)) waiter.reject(reason);
  }

  function rejectOverdue(): void {
    const now = runtime.now();
    for (const waiter of [...waiters]) {
      if (now >= waiter.endMs && leave(waiter))
        waiter.reject(stillRunning(waiter, waiter.options.timeoutMs ?? 0));
    }
  }

  /** True when a waiter came or left meanwhile, so that the next poll must be planned again. */
  async function isWoken(ms: number): Promise<boolean> {
    const { signal } = waker;
    await pause(runtime, ms, signal).catch(() => undefined);
    return signal.aborted;
  }

  async function work(): Promise<void> {
    working = true;
    while (waiters.size > 0) {
      waker = new AbortController();
      const isFailing = ({ kind }: PolledJob) => failing.has(kind);
      const ms = msUntilPoll([...waiters], { times, isFailing, polledAtMs, nowMs: runtime.now() });
      if (ms > 0 && (await isWoken(ms))) continue;
      const kinds = new Set([...waiters].map(({ kind }) => kind));
      await Promise.all([...kinds].map(pollKind));
      polledAtMs = runtime.now();
      rejectOverdue();
    }
    working = false;
  }

  return (kind, id, options = {}) => {
    const { signal, timeoutMs = Number.POSITIVE_INFINITY } = options;
    return new Promise<Job>((resolve, reject) => {
      signal?.throwIfAborted();
      const now = runtime.now();
      const seen = stillOpen(options.seen);
      const tracker = trackJob(() => runtime.now(), options.onChange, seen);
      const abort = () => {
        if (leave(waiter)) reject(signal?.reason);
        waker.abort();
      };
      const forget = () => signal?.removeEventListener('abort', abort);
      const facts = { kind, id, tracker, options, endMs: now + timeoutMs, dueMs: now };
      const waiter: Waiter = { ...facts, isNew: seen === null, hasEnded: false, resolve, reject, forget };
      if (seen !== null) planNextPoll(waiter, times, now);
      signal?.addEventListener('abort', abort);
      waiters.add(waiter);
      waker.abort();
      // Waiters that are added in one tick share the first poll.
      if (!working) queueMicrotask(() => (working ? undefined : work()));
    });
  };
}

/** A job that is being waited for. Times on the clock of the runtime. */
export interface PolledJob {
  readonly kind: JobKind;
  readonly id: string;
  readonly tracker: JobTracker;
  readonly options: WaitOptions;
  /** When the wait times out. */
  readonly endMs: number;
  /** From when on it gets a request of its own, if the list does not have it. */
  dueMs: number;
  /** Not polled yet: poll it now. */
  isNew: boolean;
  /** Known to have ended; its result is not read yet. */
  hasEnded: boolean;
}

/** Sets the time of the next poll of a job that was just read. */
export function planNextPoll(waiter: PolledJob, times: WorkTimes, nowMs: number): void {
  const { tracker, options } = waiter;
  waiter.dueMs = nowMs + (options.everyMs ?? delayFor(tracker.forecast(times), tracker.elapsedMs(), nowMs));
}

interface PollConditions {
  readonly times: WorkTimes;
  /** True for jobs whose polls are failing. */
  isFailing(waiter: PolledJob): boolean;
  readonly polledAtMs: number;
  readonly nowMs: number;
}

/** Milliseconds until the next poll of all jobs, which is one list request per kind. */
export function msUntilPoll(
  waiters: readonly PolledJob[],
  { times, isFailing, polledAtMs, nowMs }: PollConditions,
): number {
  if (waiters.some(({ isNew }) => isNew)) return 0;
  const soonest = (instants: readonly number[]) => Math.min(...instants) - nowMs;
  const due = soonest(waiters.map(({ dueMs }) => dueMs));
  const predictable = waiters.filter((waiter) => waiter.options.everyMs === undefined && !isFailing(waiter));
  const forecasts = predictable.flatMap(({ tracker }) => tracker.forecast(times) ?? []);
  const latest = forecasts.length === 0 ? due : polledAtMs + longestPause(forecasts) - nowMs;
  // Jobs that are due shortly after one another share a poll.
  const paces = waiters.flatMap(({ options }) => options.everyMs ?? []);
  const earliest = polledAtMs + Math.min(SHORTEST_MS, ...paces) - nowMs;
  // A clock that was set back must not delay a poll.
  const longest = Math.max(LONGEST_MS, ...paces);
  const wanted = Math.min(Math.max(earliest, Math.min(due, latest)), longest);
  return Math.max(0, Math.min(wanted, soonest(waiters.map(({ endMs }) => endMs))));
}
