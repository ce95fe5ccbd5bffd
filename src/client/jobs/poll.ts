/** Polls until the job or upload is done. A failed poll is not a failed job. */

import { describeDuration } from '../../base/amounts.ts';
import { Failure } from '../../base/failure.ts';
import type { CallOptions } from '../call.ts';
import type { ClientContext } from '../context.ts';
import { REDIRECTED } from '../transport/answer.ts';
import { pause } from '../transport/retry.ts';
import { growingPause } from './poll-schedule.ts';

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
    await pause(runtime, Math.min(delay, left), poll.signal);
  }
}
