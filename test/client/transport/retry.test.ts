import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextStep, type RetryAdvice } from '../../../src/client/transport/retry.ts';

const PATIENT = {
  failedAttempts: 1,
  maxWaitMs: 300_000,
  remainingMs: Number.POSITIVE_INFINITY,
  random: () => 0.5,
};

describe('the next step', () => {
  const fault = (askedMs: number | null): RetryAdvice => ({ type: 'backoff', cause: 'fault', askedMs });

  test('ends after five attempts', () => {
    expect(nextStep(fault(null), { ...PATIENT, failedAttempts: 4 }).type).toBe('wait');
    expect(nextStep(fault(null), { ...PATIENT, failedAttempts: 5 })).toEqual({
      type: 'stop',
      why: 'attempts',
    });
  });

  test('costs less when the service only asked to slow down, and nothing in the queue', () => {
    expect(nextStep(fault(0), PATIENT)).toMatchObject({ cost: 10, counts: true });
    expect(nextStep({ type: 'backoff', cause: 'throttle', askedMs: 0 }, PATIENT)).toMatchObject({ cost: 5 });
    expect(nextStep({ type: 'queue', askedMs: 1 }, { ...PATIENT, failedAttempts: 99 })).toMatchObject({
      cost: 0,
      counts: false,
    });
  });

  test('is never early, never beyond the longest wait, and stops rather than passing the deadline', () => {
    const state = fc.record({
      failedAttempts: fc.integer({ min: 1, max: 4 }),
      maxWaitMs: fc.integer({ min: 0, max: 10 ** 6 }),
      remainingMs: fc.integer({ min: 0, max: 10 ** 6 }),
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }).map((value) => () => value),
    });
    fc.assert(
      fc.property(fc.nat({ max: 2 * 10 ** 6 }), state, (askedMs, at) => {
        const step = nextStep(fault(askedMs), at);
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
