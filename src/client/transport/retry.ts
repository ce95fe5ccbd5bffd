/** Whether a failed attempt is made again, and when: pure, so that every row can be tested. */
import { BACKOFF_BASE_MS, backoffDelay } from './backoff.ts';
import { RETRY_COST, THROTTLED_RETRY_COST } from './token-bucket.ts';
import type { Verdict } from './verdict.ts';

/** What the outcome of one attempt means for the next. `askedMs`: the service's Retry-After. */
export type RetryAdvice =
  | { readonly type: 'never' }
  /** The cause is fixed already (a corrected clock). */
  | { readonly type: 'at-once' }
  | { readonly type: 'backoff'; readonly cause: 'fault' | 'throttle'; readonly askedMs: number | null }
  /** All slots are taken: wait for one, however often. */
  | { readonly type: 'queue'; readonly askedMs: number | null };

/** The advice that follows from a verdict. */
export function adviceOf({ retry }: Pick<Verdict, 'retry'>, askedMs: number | null): RetryAdvice {
  switch (retry) {
    case 'never':
      return { type: 'never' };
    case 'queue':
      return { type: 'queue', askedMs };
    case 'throttle':
      return { type: 'backoff', cause: 'throttle', askedMs };
    case 'backoff':
      return { type: 'backoff', cause: 'fault', askedMs };
  }
}

/** Attempts of one call in all. Source: design, "Transport". */
export const MAX_ATTEMPTS = 5;

/** A service that has no slot and does not say when: as long as the slowest status poll. */
const QUEUE_DELAY_MS = 15_000;

export type Step =
  | {
      readonly type: 'wait';
      readonly ms: number;
      readonly asked: boolean;
      /** Tokens that the retry takes from the shared budget. */
      readonly cost: number;
      /** False when the failed attempt is not held against the call. */
      readonly counts: boolean;
    }
  | { readonly type: 'stop'; readonly why: 'final' | 'attempts' | 'asked-too-long' | 'deadline' };

export interface RetryState {
  /** Failed attempts that count, this one included. */
  readonly failedAttempts: number;
  /** Longest Retry-After that is waited for. */
  readonly maxWaitMs: number;
  /** Until the deadline of the call, Infinity without one. */
  readonly remainingMs: number;
  readonly random: () => number;
}

/** Turns advice into the next step. */
export function nextStep(advice: RetryAdvice, state: RetryState): Step {
  if (advice.type === 'never') return { type: 'stop', why: 'final' };
  if (advice.type === 'at-once') return { type: 'wait', ms: 0, asked: false, cost: 0, counts: false };
  const queued = advice.type === 'queue';
  if (!queued && state.failedAttempts >= MAX_ATTEMPTS) return { type: 'stop', why: 'attempts' };
  const asked = advice.askedMs;
  if (asked !== null && asked > state.maxWaitMs) return { type: 'stop', why: 'asked-too-long' };
  const ms = asked === null ? ownDelay(queued, state) : politeDelay(asked, state);
  if (ms >= state.remainingMs) return { type: 'stop', why: 'deadline' };
  return { type: 'wait', ms, asked: asked !== null, cost: costOf(advice), counts: !queued };
}

function ownDelay(queued: boolean, state: RetryState): number {
  return queued ? QUEUE_DELAY_MS : backoffDelay(state.failedAttempts, state.random);
}

/** Never early; a little late, so that all who were told the same second do not come in it. */
function politeDelay(askedMs: number, state: RetryState): number {
  return Math.min(state.maxWaitMs, askedMs + state.random() * BACKOFF_BASE_MS);
}

function costOf(advice: { type: 'queue' } | { type: 'backoff'; cause: 'fault' | 'throttle' }): number {
  if (advice.type === 'queue') return 0;
  return advice.cause === 'throttle' ? THROTTLED_RETRY_COST : RETRY_COST;
}
