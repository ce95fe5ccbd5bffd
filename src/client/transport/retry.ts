/**
 * Decides whether and when a failed attempt is repeated, and repeats it: for signed calls, PUT and downloads alike.
 * Source: design, "Transport".
 */
import { describeDuration } from '../../base/amounts.ts';
import { type Failure, temporaryFailure } from '../../base/failure.ts';
import { askedDelay, backoffDelay } from '../../base/retry.ts';
import type { CallOptions, Emit } from '../call.ts';
import type { Runtime } from '../runtime.ts';
import type { ErrorClass } from './error-class.ts';

/** Consequence of one failed attempt for the next. `askedMs`: the service's Retry-After. */
export type RetryAdvice =
  | { readonly type: 'never' }
  /** The cause is fixed already (a corrected clock). */
  | { readonly type: 'at-once' }
  | { readonly type: 'backoff'; readonly cause: 'fault' | 'throttle'; readonly askedMs: number | null }
  /** All slots are taken: wait for one, however often. */
  | { readonly type: 'queue'; readonly askedMs: number | null };

/** The advice that follows from a verdict. */
export function adviceOf({ retry }: Pick<ErrorClass, 'retry'>, askedMs: number | null): RetryAdvice {
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
const MAX_ATTEMPTS = 5;

/** A service that has no slot and does not say when: as long as the slowest status poll. */
const QUEUE_DELAY_MS = 15_000;

type RetryDecision =
  | {
      readonly type: 'wait';
      readonly ms: number;
      readonly asked: boolean;
      /** Tokens that the retry takes from the shared budget. */
      readonly cost: number;
      /** False when the failed attempt does not count. */
      readonly counts: boolean;
    }
  | { readonly type: 'stop'; readonly why: 'final' | 'attempts' | 'asked-too-long' | 'deadline' };

interface RetryState {
  /** Failed attempts that count, this one included. */
  readonly failedAttempts: number;
  /** Longest Retry-After that is waited for. */
  readonly maxWaitMs: number;
  /** Until the deadline of the call, Infinity without one. */
  readonly remainingMs: number;
  readonly random: () => number;
}

/** Turns advice into the next step. */
export function decideRetry(advice: RetryAdvice, state: RetryState): RetryDecision {
  if (advice.type === 'never') return { type: 'stop', why: 'final' };
  if (advice.type === 'at-once') return { type: 'wait', ms: 0, asked: false, cost: 0, counts: false };
  const queued = advice.type === 'queue';
  if (!queued && state.failedAttempts >= MAX_ATTEMPTS) return { type: 'stop', why: 'attempts' };
  const asked = advice.askedMs;
  if (asked !== null && asked > state.maxWaitMs) return { type: 'stop', why: 'asked-too-long' };
  const ms = asked === null ? ownDelay(queued, state) : askedDelay(asked, state.maxWaitMs, state.random);
  if (ms >= state.remainingMs) return { type: 'stop', why: 'deadline' };
  return { type: 'wait', ms, asked: asked !== null, cost: costOf(advice), counts: !queued };
}

function ownDelay(queued: boolean, state: RetryState): number {
  return queued ? QUEUE_DELAY_MS : backoffDelay(state.failedAttempts, state.random);
}

function costOf(advice: { type: 'queue' } | { type: 'backoff'; cause: 'fault' | 'throttle' }): number {
  if (advice.type === 'queue') return 0;
  return advice.cause === 'throttle' ? THROTTLED_RETRY_COST : RETRY_COST;
}

/**
 * The budget of retries that all calls of one client share: when a service is down, a thousand calls must not become
 * five thousand. Figures after the AWS SDKs.
 */

/** Fifty retries in a row without a success between them. */
export const BUCKET_CAPACITY = 500;
export const RETRY_COST = 10;
/** A throttled call was answered quickly: trying again costs the service less. */
export const THROTTLED_RETRY_COST = 5;
/** Tokens that a call without a retry puts back. */
const FIRST_TIME_REFUND = 1;

export interface TokenBucket {
  /** Takes the tokens of one retry, or none and returns false when there are too few. */
  take(cost: number): boolean;
  /** After a success: the cost of the last retry comes back, or a little when there was none. */
  refund(cost: number): void;
  readonly tokens: number;
}

/** A full bucket. */
export function createTokenBucket(): TokenBucket {
  let tokens = BUCKET_CAPACITY;
  return {
    take(cost) {
      if (tokens < cost) return false;
      tokens -= cost;
      return true;
    },
    refund(cost) {
      tokens = Math.min(BUCKET_CAPACITY, tokens + Math.max(cost, FIRST_TIME_REFUND));
    },
    get tokens() {
      return tokens;
    },
  };
}

export type AttemptResult<T> =
  | { readonly type: 'done'; readonly value: T }
  | {
      readonly type: 'failed';
      readonly failure: Failure;
      readonly advice: RetryAdvice;
      /** True when the attempt brought the work forward, so that counting restarts. */
      readonly progressed?: boolean;
    };

interface RetryContext {
  readonly runtime: Runtime;
  readonly bucket: TokenBucket;
  readonly maxWaitMs: number;
  readonly emit: Emit;
}

/**
 * @param attempt gets its number, from 1
 * @throws Failure of the last attempt; the signal's own reason when it is aborted
 */
export async function withRetries<T>(
  context: RetryContext,
  limits: Pick<CallOptions, 'signal' | 'deadline' | 'waitForSlot'>,
  attempt: (number: number) => Promise<AttemptResult<T>>,
): Promise<T> {
  const { runtime, bucket, maxWaitMs, emit } = context;
  let failedAttempts = 0;
  let lastCost = 0;
  if (limits.deadline !== undefined && limits.deadline <= runtime.now()) throw deadlinePassedFailure();
  for (let number = 1; ; number += 1) {
    limits.signal?.throwIfAborted();
    const outcome = await attempt(number);
    if (outcome.type === 'done') {
      bucket.refund(lastCost);
      return outcome.value;
    }
    limits.signal?.throwIfAborted();
    const { failure, advice } = outcome;
    if (advice.type === 'queue' && limits.waitForSlot === false) throw failure;
    failedAttempts = outcome.progressed ? 1 : failedAttempts + 1;
    const remainingMs = (limits.deadline ?? Number.POSITIVE_INFINITY) - runtime.now();
    const step = decideRetry(advice, { failedAttempts, maxWaitMs, remainingMs, random: runtime.random });
    if (step.type === 'stop') throw retriesEndedFailure(failure, step.why, failedAttempts);
    if (!bucket.take(step.cost)) throw failure;
    lastCost = step.cost;
    if (!step.counts) failedAttempts -= 1;
    announce(emit, failure, step);
    await pauseFor(runtime, step.ms, limits.signal);
  }
}

/** Sleeps; an abort rejects with the signal's own reason. */
export async function pauseFor(runtime: Runtime, ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    if (ms > 0) await runtime.sleep(ms, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  signal?.throwIfAborted();
}

function announce(emit: Emit, failure: Failure, step: RetryDecision & { type: 'wait' }): void {
  if (step.ms === 0) return;
  const { code, message } = failure.facts;
  emit({ type: 'retry', code, message, waitMs: Math.round(step.ms), asked: step.asked });
}

function deadlinePassedFailure(): Failure {
  return temporaryFailure(
    'DEADLINE_PASSED',
    'the time limit passed before the request could be sent',
    'Run the same command again with more time.',
    { retryable: true },
  );
}

function retriesEndedFailure(
  failure: Failure,
  why: (RetryDecision & { type: 'stop' })['why'],
  attempts: number,
): Failure {
  const { message, retryAfterMs = 0 } = failure.facts;
  switch (why) {
    case 'final':
      return failure;
    case 'attempts':
      return failure.with({ message: `${message}, ${attempts} times in a row` });
    case 'deadline':
      return failure.with({ message: `${message}, and the time limit has passed` });
    case 'asked-too-long': {
      const asked = describeDuration(retryAfterMs);
      return failure.with({
        category: 'temporary',
        message: `${message}; the service asks to wait ${asked}`,
        advice: `Run the same command again after ${asked}.`,
      });
    }
  }
}
