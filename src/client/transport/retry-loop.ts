/** Runs attempts until one succeeds or there is no sense in another: the one loop of signed calls, PUT and download. */

import { describeDuration } from '../../errors/amounts.ts';
import { Failure } from '../../errors/failure.ts';
import type { CallOptions } from '../call.ts';
import type { Emit } from '../events.ts';
import type { Runtime } from '../runtime.ts';
import { nextStep, type RetryAdvice, type Step } from './retry.ts';
import type { TokenBucket } from './token-bucket.ts';

export type Outcome<T> =
  | { readonly type: 'done'; readonly value: T }
  | {
      readonly type: 'failed';
      readonly failure: Failure;
      readonly advice: RetryAdvice;
      /** True when the attempt brought the work forward, so that counting restarts. */
      readonly progressed?: boolean;
    };

export interface RetryContext {
  readonly runtime: Runtime;
  readonly bucket: TokenBucket;
  readonly maxWaitMs: number;
  readonly emit: Emit;
}

/**
 * @param attempt is told its number, from 1
 * @throws Failure of the last attempt; the signal's own reason when it is aborted
 */
export async function withRetries<T>(
  context: RetryContext,
  limits: Pick<CallOptions, 'signal' | 'deadline' | 'waitForSlot'>,
  attempt: (number: number) => Promise<Outcome<T>>,
): Promise<T> {
  const { runtime, bucket, maxWaitMs, emit } = context;
  let failedAttempts = 0;
  let lastCost = 0;
  if (limits.deadline !== undefined && limits.deadline <= runtime.now()) throw deadlinePassed();
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
    const step = nextStep(advice, { failedAttempts, maxWaitMs, remainingMs, random: runtime.random });
    if (step.type === 'stop') throw explainStop(failure, step.why, failedAttempts);
    if (!bucket.take(step.cost)) throw failure;
    lastCost = step.cost;
    if (!step.counts) failedAttempts -= 1;
    announce(emit, failure, step);
    await pause(runtime, step.ms, limits.signal);
  }
}

/** Sleeps; an abort rejects with the signal's own reason. */
export async function pause(runtime: Runtime, ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    if (ms > 0) await runtime.sleep(ms, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  signal?.throwIfAborted();
}

function announce(emit: Emit, failure: Failure, step: Step & { type: 'wait' }): void {
  if (step.ms === 0) return;
  const { code, message } = failure.facts;
  emit({ type: 'retry', code, message, waitMs: Math.round(step.ms), asked: step.asked });
}

function deadlinePassed(): Failure {
  return new Failure({
    category: 'temporary',
    code: 'DEADLINE_PASSED',
    message: 'the time given was over before the request could be sent',
    advice: 'Run the same command again with more time.',
    retryable: true,
  });
}

function explainStop(failure: Failure, why: (Step & { type: 'stop' })['why'], attempts: number): Failure {
  const { message, retryAfterMs = 0 } = failure.facts;
  switch (why) {
    case 'final':
      return failure;
    case 'attempts':
      return failure.with({ message: `${message}, ${attempts} times in a row` });
    case 'deadline':
      return failure.with({ message: `${message}, and the time given is over` });
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
