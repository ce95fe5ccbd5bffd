import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  BUCKET_CAPACITY,
  createTokenBucket,
  RETRY_COST,
  THROTTLED_RETRY_COST,
} from '../../../src/client/transport/retry.ts';

test('a full bucket pays for 50 retries, or 100 throttled ones, and not one more', () => {
  for (const [cost, retries] of [
    [RETRY_COST, 50],
    [THROTTLED_RETRY_COST, 100],
  ] as const) {
    const bucket = createTokenBucket();
    for (let retry = 0; retry < retries; retry += 1) expect(bucket.take(cost)).toBe(true);
    expect(bucket.take(cost)).toBe(false);
    expect(bucket.tokens).toBe(0);
  }
});

test('a success after a retry refunds its cost; one without refunds a little', () => {
  const bucket = createTokenBucket();
  bucket.take(RETRY_COST);
  bucket.take(RETRY_COST);
  bucket.refund(RETRY_COST);
  expect(bucket.tokens).toBe(490);
  bucket.refund(0);
  expect(bucket.tokens).toBe(491);
});

test('its level is always between zero and its capacity, and a refused withdrawal costs nothing', () => {
  const step = fc.record({ take: fc.boolean(), cost: fc.constantFrom(0, THROTTLED_RETRY_COST, RETRY_COST) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const bucket = createTokenBucket();
      for (const { take, cost } of steps) {
        const before = bucket.tokens;
        const paid = take && bucket.take(cost);
        if (take) expect(bucket.tokens).toBe(paid ? before - cost : before);
        else bucket.refund(cost);
        expect(bucket.tokens).toBeGreaterThanOrEqual(0);
        expect(bucket.tokens).toBeLessThanOrEqual(BUCKET_CAPACITY);
      }
    }),
  );
});
