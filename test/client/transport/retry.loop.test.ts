import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { ClientEvent } from '../../../src/client/call.ts';
import {
  type AttemptResult,
  createTokenBucket,
  pauseFor,
  type RetryAdvice,
  withRetries,
} from '../../../src/client/transport/retry.ts';
import { createFakeRuntime } from '../support/fake-runtime.ts';

const BUSY = new Failure({ category: 'temporary', code: 'BUSY', message: 'the service is busy' });
const FAULT: RetryAdvice = { type: 'backoff', cause: 'fault', askedMs: null };
const THROTTLED: RetryAdvice = { type: 'backoff', cause: 'throttle', askedMs: 4_000 };
const QUEUE: RetryAdvice = { type: 'queue', askedMs: 10_000 };

const failed = (advice: RetryAdvice, more: { progressed?: boolean; failure?: Failure } = {}) =>
  ({ type: 'failed', failure: BUSY, advice, ...more }) satisfies AttemptResult<string>;

/** The outcomes one after the other, then success; what the loop did about them. */
function scene(outcomes: readonly AttemptResult<string>[], maxWaitMs = 60_000) {
  const runtime = createFakeRuntime(1_000_000);
  const bucket = createTokenBucket();
  const events: ClientEvent[] = [];
  const attempts: number[] = [];
  const context = { runtime, bucket, maxWaitMs, emit: (event: ClientEvent) => events.push(event) };
  const run = (limits: Parameters<typeof withRetries>[1] = {}) =>
    withRetries(context, limits, async (number) => {
      attempts.push(number);
      return outcomes[number - 1] ?? { type: 'done', value: 'the answer' };
    });
  const failure = async (limits: Parameters<typeof withRetries>[1] = {}) => {
    const error = await run(limits).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!(error instanceof Failure)) throw new Error('a failure was expected', { cause: error });
    return error;
  };
  return { run, failure, runtime, bucket, events, attempts };
}

describe('the deadline of a call', () => {
  test.each([0, -1])('that is %i ms from now allows no attempt, and says what to do', async (left) => {
    const { failure, runtime, attempts } = scene([]);
    const { facts } = await failure({ deadline: runtime.now() + left });
    expect(attempts).toEqual([]);
    expect(facts).toEqual({
      category: 'temporary',
      code: 'DEADLINE_PASSED',
      message: 'the time limit passed before the request could be sent',
      advice: 'Run the same command again with more time.',
      retryable: true,
    });
  });

  test('that is a millisecond ahead allows one attempt', async () => {
    const { run, runtime, attempts } = scene([]);
    expect(await run({ deadline: runtime.now() + 1 })).toBe('the answer');
    expect(attempts).toEqual([1]);
  });

  test('ends the retries if the next wait would reach it', async () => {
    const { failure, runtime, events } = scene([failed(THROTTLED), failed(THROTTLED)]);
    const { facts } = await failure({ deadline: runtime.now() + 8_500 });
    expect(runtime.slept).toEqual([4_250]);
    expect(facts).toEqual({ ...BUSY.facts, message: 'the service is busy, and the time limit has passed' });
    expect(events).toHaveLength(1);
  });

  test('leaves time for one more attempt if the wait ends a millisecond before it', async () => {
    const { run, runtime } = scene([failed(THROTTLED), failed(THROTTLED)]);
    expect(await run({ deadline: runtime.now() + 8_501 })).toBe('the answer');
    expect(runtime.slept).toEqual([4_250, 4_250]);
  });
});

describe('a call for which all slots are taken', () => {
  test('waits for one, and says so each time', async () => {
    const { run, runtime, events, bucket } = scene(Array.from({ length: 9 }, () => failed(QUEUE)));
    expect(await run()).toBe('the answer');
    expect(runtime.slept).toEqual(Array.from({ length: 9 }, () => 10_250));
    expect(events).toHaveLength(9);
    expect(bucket.tokens).toBe(500);
  });

  test('fails immediately if its caller does not want to wait for a slot', async () => {
    const { failure, runtime, attempts } = scene([failed(QUEUE)]);
    expect(await failure({ waitForSlot: false })).toBe(BUSY);
    expect({ attempts, slept: runtime.slept }).toEqual({ attempts: [1], slept: [] });
  });

  test('is still repeated after another failure if its caller does not want to wait for a slot', async () => {
    const { run, attempts } = scene([failed(FAULT)]);
    expect(await run({ waitForSlot: false })).toBe('the answer');
    expect(attempts).toEqual([1, 2]);
  });

  test('keeps the number of failed attempts from before the queue', async () => {
    const { failure, attempts } = scene([
      failed(FAULT),
      failed(FAULT),
      failed(QUEUE),
      ...Array.from({ length: 5 }, () => failed(FAULT)),
    ]);
    const { facts } = await failure();
    expect(attempts).toHaveLength(6);
    expect(facts.message).toBe('the service is busy, 5 times in a row');
  });
});

describe('a failed attempt', () => {
  test('that cannot succeed later is not repeated and keeps its message', async () => {
    const { failure, attempts, events } = scene([failed({ type: 'never' })]);
    expect(await failure()).toBe(BUSY);
    expect({ attempts, events }).toEqual({ attempts: [1], events: [] });
  });

  test('that made progress restarts the count', async () => {
    const progress = failed(FAULT, { progressed: true });
    const { failure, attempts, runtime } = scene([
      ...Array.from({ length: 6 }, () => progress),
      ...Array.from({ length: 5 }, () => failed(FAULT)),
    ]);
    await failure();
    expect(attempts).toHaveLength(10);
    expect(runtime.slept).toEqual([250, 250, 250, 250, 250, 250, 500, 1_000, 2_000]);
  });

  test('whose cause is already fixed is repeated immediately, silently and free of charge', async () => {
    const { run, runtime, events, bucket } = scene([failed({ type: 'at-once' })]);
    expect(await run()).toBe('the answer');
    expect({ slept: runtime.slept, events, tokens: bucket.tokens }).toEqual({
      slept: [],
      events: [],
      tokens: 500,
    });
  });

  test('is reported with its code, its message and the wait in whole milliseconds', async () => {
    const { run, events } = scene([failed({ ...THROTTLED, askedMs: 3_000.6 }), failed(FAULT)]);
    await run();
    const retry = { type: 'retry', code: 'BUSY', message: 'the service is busy' };
    expect(events).toEqual([
      { ...retry, waitMs: 3_251, asked: true },
      { ...retry, waitMs: 500, asked: false },
    ]);
  });

  test('is not repeated if the service asks for longer than the longest wait', async () => {
    const slow = new Failure({
      category: 'refused',
      code: 'SLOW',
      message: 'too many requests',
      retryAfterMs: 120_000,
    });
    const advice: RetryAdvice = { ...THROTTLED, askedMs: 120_000 };
    const { failure, attempts } = scene([failed(advice, { failure: slow })]);
    const { facts } = await failure();
    expect(attempts).toEqual([1]);
    expect(facts).toMatchObject({
      category: 'temporary',
      code: 'SLOW',
      message: 'too many requests; the service asks to wait 2 min',
      advice: 'Run the same command again after 2 min.',
    });
  });
});

describe('the shared budget', () => {
  test('pays for each retry, and gets the last cost refunded after a success', async () => {
    const { run, bucket } = scene([failed(THROTTLED), failed(FAULT), failed(FAULT)]);
    await run();
    expect(bucket.tokens).toBe(500 - 5 - 10 - 10 + 10);
  });

  test('that is used up ends the call with the unchanged failure', async () => {
    const { failure, bucket, runtime, attempts } = scene([failed(FAULT)]);
    bucket.take(495);
    expect(await failure()).toBe(BUSY);
    expect({ attempts, slept: runtime.slept, tokens: bucket.tokens }).toEqual({
      attempts: [1],
      slept: [],
      tokens: 5,
    });
  });
});

describe('a caller who gives up', () => {
  const reason = new Error('the user pressed Ctrl-C');

  test('before the first attempt prevents it', async () => {
    const { run, attempts } = scene([]);
    await expect(run({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(attempts).toEqual([]);
  });

  test('during an attempt gets the reason, not the failure, and no wait is reported', async () => {
    const { runtime, bucket, events } = scene([]);
    const controller = new AbortController();
    const context = { runtime, bucket, maxWaitMs: 60_000, emit: (event: ClientEvent) => events.push(event) };
    const call = withRetries(context, { signal: controller.signal }, async () => {
      controller.abort(reason);
      return failed(FAULT);
    });
    await expect(call).rejects.toBe(reason);
    expect({ events, tokens: bucket.tokens }).toEqual({ events: [], tokens: 500 });
  });

  test('during an attempt that succeeds gets its value, because it was paid for', async () => {
    const { runtime, bucket } = scene([]);
    const controller = new AbortController();
    const context = { runtime, bucket, maxWaitMs: 60_000, emit: () => undefined };
    const call = withRetries(context, { signal: controller.signal }, async () => {
      controller.abort(reason);
      return { type: 'done', value: 'the answer' };
    });
    expect(await call).toBe('the answer');
  });
});

describe('a pause', () => {
  test('passes its length and the signal to the clock', async () => {
    const seen: unknown[] = [];
    const { signal } = new AbortController();
    const sleep = async (...passed: unknown[]) => void seen.push(passed);
    await pauseFor({ ...createFakeRuntime(), sleep }, 7, signal);
    expect(seen).toEqual([[7, signal]]);
  });

  test('of length zero does not sleep, and still notices that the caller gave up', async () => {
    const runtime = createFakeRuntime();
    await pauseFor(runtime, 0, undefined);
    expect(runtime.slept).toEqual([]);
    const reason = new Error('the user pressed Ctrl-C');
    await expect(pauseFor(runtime, 0, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test('rejects with the reason of the signal whatever the clock reports, else with what the clock reports', async () => {
    const reason = new Error('the user pressed Ctrl-C');
    const broken = new Error('the clock is broken');
    const controller = new AbortController();
    const sleep = async () => {
      throw broken;
    };
    const runtime = { ...createFakeRuntime(), sleep };
    await expect(pauseFor(runtime, 5, controller.signal)).rejects.toBe(broken);
    await expect(pauseFor(runtime, 5, undefined)).rejects.toBe(broken);
    controller.abort(reason);
    await expect(pauseFor(runtime, 5, controller.signal)).rejects.toBe(reason);
  });
});
