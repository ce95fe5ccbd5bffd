import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fittingRate, fittingTempo } from '../../../src/engines/speak/rate.ts';

test('a text that fits is spoken as it is', () => {
  expect(fittingRate(1.8, 2, 3)).toBeNull();
  expect(fittingRate(2.9, 2, 3)).toBeNull();
  expect(fittingTempo(2.9, 3)).toBe(1);
});

test('one that is too long is spoken faster, one that is short slower', () => {
  expect(fittingRate(3.6, 2, 3)).toBe(Math.round((165 * 3.6) / (3 * 0.98)));
  expect(fittingRate(1.6, 2, 3)).toBe(Math.round((165 * 1.6) / (2 * 0.98)));
});

test('nobody is made to speak too fast or too slowly, and silence has no rate', () => {
  expect(fittingRate(30, 2, 3)).toBe(260);
  expect(fittingRate(0.1, 5, 5)).toBe(130);
  expect(fittingRate(0, 5, 5)).toBeNull();
});

test('a tempo always makes it fit', () => {
  const seconds = fc.double({ min: 0.05, max: 60, noNaN: true });
  fc.assert(
    fc.property(seconds, seconds, (spoken, available) => {
      const tempo = fittingTempo(spoken, available);
      expect(tempo).toBeGreaterThanOrEqual(1);
      expect(spoken / tempo).toBeLessThanOrEqual(available);
    }),
  );
});
