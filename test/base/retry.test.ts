import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffCeiling, backoffDelay } from '../../src/base/retry.ts';

const random01 = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('the delay is between zero and the ceiling, which doubles up to 20 s', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), random01, (failed, random) => {
      const ceiling = Math.min(20_000, 500 * 2 ** (failed - 1));
      const delay = backoffDelay(failed, () => random);
      expect(backoffCeiling(failed)).toBe(ceiling);
      expect(delay).toBeGreaterThanOrEqual(0);
      expect(delay).toBeLessThan(ceiling);
    }),
  );
});

test.each([1, 3, 6, 10])('10,000 draws after %i failures average half the ceiling', (failed) => {
  const draws = Array.from({ length: 10_000 }, () => backoffDelay(failed, Math.random));
  const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
  expect(mean / backoffCeiling(failed)).toBeGreaterThan(0.475);
  expect(mean / backoffCeiling(failed)).toBeLessThan(0.525);
});
