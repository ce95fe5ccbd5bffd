import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { adviceOf, decideRetry, type RetryAdvice } from '../../../src/client/transport/retry.ts';

const PATIENT = {
  failedAttempts: 1,
  maxWaitMs: 300_000,
  remainingMs: Number.POSITIVE_INFINITY,
  random: () => 0.5,
};

test.each<[Parameters<typeof adviceOf>[0]['retry'], RetryAdvice]>([
  ['never', { type: 'never' }],
  ['queue', { type: 'queue', askedMs: 7_000 }],
  ['throttle', { type: 'backoff', cause: 'throttle', askedMs: 7_000 }],
  ['backoff', { type: 'backoff', cause: 'fault', askedMs: 7_000 }],
])('the verdict %s becomes advice with the wait that the service asked for', (retry, advice) => {
  expect(adviceOf({ retry }, 7_000)).toEqual(advice);
});

describe('the next step', () => {
  const fault = (askedMs: number | null) => ({ type: 'backoff', cause: 'fault', askedMs }) as const;

  test('after a final failure is to stop', () => {
    expect(decideRetry({ type: 'never' }, PATIENT)).toEqual({ type: 'stop', why: 'final' });
  });

  test('after a fixed cause is immediate, free, and not counted, whatever the limits', () => {
    const hurried = { ...PATIENT, failedAttempts: 9, remainingMs: 1, maxWaitMs: 0 };
    const atOnce = { type: 'wait', ms: 0, asked: false, cost: 0, counts: false };
    expect(decideRetry({ type: 'at-once' }, hurried)).toEqual(atOnce);
  });

  test('is to wait by backoff if the service does not say how long, and 15 s for a slot', () => {
    const own = { ...PATIENT, failedAttempts: 3 };
    expect(decideRetry(fault(null), own)).toEqual({
      type: 'wait',
      ms: 1_000,
      asked: false,
      cost: 10,
      counts: true,
    });
    expect(decideRetry({ type: 'queue', askedMs: null }, own)).toEqual({
      type: 'wait',
      ms: 15_000,
      asked: false,
      cost: 0,
      counts: false,
    });
  });

  test('is to wait up to half a second longer than asked, but never longer than the longest wait', () => {
    expect(decideRetry(fault(2_000), { ...PATIENT, random: () => 0 })).toMatchObject({
      ms: 2_000,
      asked: true,
    });
    expect(decideRetry(fault(2_000), { ...PATIENT, random: () => 0.5 })).toMatchObject({ ms: 2_250 });
    expect(decideRetry(fault(2_000), { ...PATIENT, maxWaitMs: 2_100 })).toMatchObject({ ms: 2_100 });
  });

  test('is to wait for the longest wait, and to stop if asked for a millisecond more, also for a slot', () => {
    const tight = { ...PATIENT, maxWaitMs: 2_000 };
    for (const advice of [fault(2_000), { type: 'queue', askedMs: 2_000 } as const]) {
      expect(decideRetry(advice, tight)).toMatchObject({ type: 'wait', ms: 2_000 });
      expect(decideRetry({ ...advice, askedMs: 2_001 }, tight)).toEqual({
        type: 'stop',
        why: 'asked-too-long',
      });
    }
  });

  test('is to stop if the wait would end at the deadline, and not if it ends a millisecond before', () => {
    expect(decideRetry(fault(2_000), { ...PATIENT, remainingMs: 2_250 })).toEqual({
      type: 'stop',
      why: 'deadline',
    });
    expect(decideRetry(fault(2_000), { ...PATIENT, remainingMs: 2_251 })).toMatchObject({ type: 'wait' });
  });

  test('is to stop after five attempts', () => {
    expect(decideRetry(fault(null), { ...PATIENT, failedAttempts: 4 }).type).toBe('wait');
    expect(decideRetry(fault(null), { ...PATIENT, failedAttempts: 5 })).toEqual({
      type: 'stop',
      why: 'attempts',
    });
  });

  test('costs less if the service only asked to slow down, and nothing in the queue', () => {
    expect(decideRetry(fault(0), PATIENT)).toMatchObject({ cost: 10, counts: true });
    expect(decideRetry({ type: 'backoff', cause: 'throttle', askedMs: 0 }, PATIENT)).toMatchObject({
      cost: 5,
    });
    expect(decideRetry({ type: 'queue', askedMs: 1 }, { ...PATIENT, failedAttempts: 99 })).toMatchObject({
      cost: 0,
      counts: false,
    });
  });

  test('is never early, never beyond the longest wait, and never passes the deadline', () => {
    const state = fc.record({
      failedAttempts: fc.integer({ min: 1, max: 4 }),
      maxWaitMs: fc.integer({ min: 0, max: 10 ** 6 }),
      remainingMs: fc.integer({ min: 0, max: 10 ** 6 }),
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }).map((value) => () => value),
    });
    fc.assert(
      fc.property(fc.nat({ max: 2 * 10 ** 6 }), state, (askedMs, at) => {
        const step = decideRetry(fault(askedMs), at);
        if (step.type === 'stop') {
          const why = askedMs > at.maxWaitMs ? 'asked-too-long' : 'deadline';
          expect(step.why).toBe(why);
          return;
        }
        expect(step.asked).toBe(true);
        expect(step.ms).toBeGreaterThanOrEqual(askedMs);
        expect(step.ms).toBeLessThanOrEqual(at.maxWaitMs);
        expect(step.ms).toBeLessThan(at.remainingMs);
      }),
    );
  });
});
