/** Whether a failed attempt is made again, and when: pure, so that every row can be tested. */
import { BACKOFF_BASE_MS, backoffDelay } from './backoff.ts';
import { RETRY_COST, THROTTLED_RETRY_COST } from './token-bucket.ts';

/** What the outcome of one attempt means for the next. `askedMs`: the service's Retry-After. */
export type RetryAdvice =
  | { readonly type: 'never' }
  /** The reason is mended already (a corrected clock). */
  | { readonly type: 'at-once' }
  | { readonly type: 'backoff'; readonly cause: 'fault' | 'throttle'; readonly askedMs: number | null }
  /** All slots are taken: wait for one, however often. */
  | { readonly type: 'queue'; readonly askedMs: number | null };

export interface RefusedAnswer {
  readonly status: number;
  /** Code of the problem, null when the body was none. */
  readonly code: string | null;
  /** The service's own word, null when it says nothing. */
  readonly retryable: boolean | null;
  readonly askedMs: number | null;
}

/** Statuses that pass by themselves when nothing more is known. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Decides by code, then by the service's word, then by status. Source: specification, "Errors"; contract, "Errors". */
export function adviseOnAnswer(answer: RefusedAnswer): RetryAdvice {
  const { status, code, retryable, askedMs } = answer;
  if (code === 'CREDIT_QUOTA_EXCEEDED' || status === 402) return { type: 'never' };
  if (code === 'CONCURRENCY_LIMIT_EXCEEDED') return { type: 'queue', askedMs };
  return mayPass(status, code, retryable)
    ? { type: 'backoff', cause: status === 429 ? 'throttle' : 'fault', askedMs }
    : { type: 'never' };
}

function mayPass(status: number, code: string | null, retryable: boolean | null): boolean {
  if (retryable !== null) return retryable;
  // The same key is being worked on by an earlier attempt; its result will be replayed.
  if (status === 409) return code?.includes('IN_PROGRESS') ?? false;
  // The specification allows a retry of its own 503 only when it says `retryable`; a proxy's page has no code.
  if (status === 503 && code !== null) return false;
  return TRANSIENT_STATUSES.has(status);
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
