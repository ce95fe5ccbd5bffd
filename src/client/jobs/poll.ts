/** Polls until the job or upload is done. A failed poll is not a failed job. */
import { describeDuration } from '../../base/amounts.ts';
import { Failure, timeoutFailure } from '../../base/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import type { Job } from '../read/resources.ts';
import { REDIRECTED } from '../transport/answer.ts';
import type { ClientContext } from '../transport/context.ts';
import { pauseFor } from '../transport/retry.ts';

interface Poll<T> {
  read(limits: CallOptions): Promise<T>;
  isDone(value: T): boolean;
  /** Milliseconds until the next poll. */
  delayAfter(value: T, elapsedMs: number): number;
  /** The failure of a timeout. */
  timeOver(): Failure;
  readonly signal?: AbortSignal | undefined;
  /** Infinity without it; 0 polls once. */
  readonly timeoutMs?: number | undefined;
}

/** A poll that began before the deadline may end a little after it. Source: reliability rules: no hang past the deadline + 5 s. */
export const GRACE_MS = 5_000;

/** Polls that fail for so long without a success end the wait. */
const GIVE_UP_MS = 15 * 60_000;

/** A login page of a network ends within moments. A service that has moved redirects for good. */
const REDIRECTED_MS = 60_000;

/** Polls that failed without a success between them. Milliseconds on the clock of the runtime. */
export interface FailedPolls {
  readonly sinceMs: number;
  /** Null if the last one was not redirected. */
  readonly redirectedSinceMs: number | null;
}

export function addFailedPoll(before: FailedPolls | null, { facts }: Failure, nowMs: number): FailedPolls {
  const isRedirected = facts.code === REDIRECTED;
  const redirectedSinceMs = isRedirected ? (before?.redirectedSinceMs ?? nowMs) : null;
  return { sinceMs: before?.sinceMs ?? nowMs, redirectedSinceMs };
}

/** Whether polls have failed for so long that the wait ends. */
export function isGivenUp({ sinceMs, redirectedSinceMs }: FailedPolls, nowMs: number): boolean {
  return nowMs - sinceMs >= GIVE_UP_MS || nowMs - (redirectedSinceMs ?? nowMs) >= REDIRECTED_MS;
}

/** True for a failed poll that says nothing about the job, such as a page of a gateway, whatever its status. */
export function isTemporary(error: unknown): error is Failure {
  if (!(error instanceof Failure)) return false;
  return error.facts.category === 'temporary' || error.facts.origin === 'gateway';
}

/** The failure that ends polling. The job still exists, so the failure is temporary, unless the base URL is wrong. */
export function pollFailure(failure: Failure): Failure {
  if (failure.facts.category === 'temporary' || failure.facts.code === REDIRECTED) return failure;
  return failure.with({ category: 'temporary', retryable: true });
}

/**
 * @throws Failure of `timeOver`, of a poll that can never succeed, or of polls that all failed for fifteen minutes, or were
 *   redirected for one
 */
export async function pollUntilDone<T>(context: ClientContext, poll: Poll<T>): Promise<T> {
  const { runtime, emit } = context;
  const begun = runtime.now();
  const end = begun + (poll.timeoutMs ?? Number.POSITIVE_INFINITY);
  let failed: FailedPolls | null = null;
  for (;;) {
    let delay: number;
    try {
      const value = await poll.read({ signal: poll.signal, deadline: end + GRACE_MS });
      if (poll.isDone(value)) return value;
      failed = null;
      delay = poll.delayAfter(value, runtime.now() - begun);
    } catch (error) {
      if (!isTemporary(error)) throw error;
      const now = runtime.now();
      failed = addFailedPoll(failed, error, now);
      if (now < end && isGivenUp(failed, now)) throw pollFailure(error);
      delay = growingPause(now - failed.sinceMs);
      const message = `${error.message}; looking again in ${describeDuration(delay)}`;
      emit({ type: 'notice', code: 'POLL_FAILED', message });
    }
    const left = end - runtime.now();
    if (left <= 0) throw poll.timeOver();
    await pauseFor(runtime, Math.min(delay, left), poll.signal);
  }
}

/** A new job, which may take only seconds, is polled twice a second. */
const FIRST_MS = 500;
/** With several jobs, one or another ends all the time, and polling more often brings no visible gain. */
const SHORTEST_MS = 1_000;
/** With jobs of two minutes in fifteen slots: 1.9 requests for each job, and all of them take 1.02 times as long. */
const LONGEST_MS = 5_300;

/** Half of the time already waited: a result is noticed late by at most half of its duration, and by the longest pause. */
export function growingPause(elapsedMs: number): number {
  return clamp(elapsedMs / 2, FIRST_MS, LONGEST_MS);
}

/** More would notice the end of jobs of seconds hardly sooner. */
const POLLS_PER_JOB = 14;

/**
 * Milliseconds between two polls of several jobs: 1 to 5 s.
 * @param typicalMs how long jobs have taken; 0 before the first one has ended
 * @param quietMs for how long none has ended
 */
export function sharedPause(typicalMs: number, quietMs: number): number {
  return clamp(Math.max(typicalMs, quietMs) / POLLS_PER_JOB, SHORTEST_MS, LONGEST_MS);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** No limit without it; 0 polls once. */
  readonly timeoutMs?: number | undefined;
  /** Fixed interval between polls: for a service on this machine, where polling costs nothing. */
  readonly everyMs?: number | undefined;
  /** Called for the first state and whenever status, stage or progress changes; not for `seen`. */
  readonly onChange?: ((job: Job) => void) | undefined;
  /** The job from a response that just arrived: the first poll then waits until it may have changed. */
  readonly seen?: Job | undefined;
  /** Called once it is known to have ended, which may be before its result is read. */
  readonly onEnd?: (() => void) | undefined;
}

/**
 * Waits until the job succeeded, failed or was cancelled.
 * @throws Failure: `timeout` when it is still running then; what the service refuses permanently
 */
export function waitForJob(
  context: ClientContext,
  get: (limits: CallOptions) => Promise<Job>,
  job: { kind: JobKind; id: string },
  options: WaitOptions,
): Promise<Job> {
  let seen = stillOpen(options.seen);
  const report = createChangeReporter(options.onChange, seen);
  return pollUntilDone(context, {
    async read(limits) {
      const next = seen ?? (await get(limits));
      seen = null;
      if (isTerminal(next.status)) options.onEnd?.();
      report(next);
      return next;
    },
    isDone: ({ status }) => isTerminal(status),
    delayAfter: (_job, elapsedMs) => options.everyMs ?? growingPause(elapsedMs),
    timeOver: () => stillRunningFailure(job, options.timeoutMs ?? 0),
    signal: options.signal,
    timeoutMs: options.timeoutMs,
  });
}

/** Null for an ended job: a replayed response may be old, and its links may have expired. */
export function stillOpen(seen: Job | undefined): Job | null {
  return seen === undefined || isTerminal(seen.status) ? null : seen;
}

/** Returns a function that reports a job when it has changed. @param seen its last known state */
export function createChangeReporter(
  onChange: WaitOptions['onChange'],
  seen: Job | null,
): (job: Job) => void {
  let last = seen;
  return (job) => {
    if (last === null || hasChanged(last, job)) onChange?.(job);
    last = job;
  };
}

function hasChanged(before: Job, after: Job): boolean {
  return before.status !== after.status || before.progress !== after.progress || before.stage !== after.stage;
}

/** The failure of a wait that timed out. */
export function stillRunningFailure({ kind, id }: { kind: JobKind; id: string }, timeoutMs: number): Failure {
  return timeoutFailure(
    'STILL_RUNNING',
    `the job ${id} is still running after ${describeDuration(timeoutMs)}`,
    `It continues; wait for it with \`vloc jobs wait ${KINDS[kind].path}/${id}\``,
    { jobId: id, retryable: true },
  );
}
