import { expect, it } from 'vitest';
import {
  countCharacters,
  describeUnits,
  quantityOf,
  toCredits,
  toThousandths,
} from '../../src/protocol/metering.ts';

const NOTHING = { seconds: 0, lines: 0, characters: 0 };

it.each([
  [0.001, 1],
  [60, 1],
  [60.0004, 1],
  [60.001, 2],
  [900, 15],
])('%d seconds are %d started minutes', (seconds, minutes) => {
  expect(quantityOf('started_minute', { ...NOTHING, seconds })).toBe(minutes);
});

it.each([
  [1, 1],
  [1000, 1],
  [1001, 2],
])('%d characters are %d started thousands', (characters, thousands) => {
  expect(quantityOf('started_thousand_characters', { ...NOTHING, characters })).toBe(thousands);
});

it('a character is a code point, not a UTF-16 unit', () => {
  expect(countCharacters([{ index: 1, start_ms: 0, end_ms: 1, text: 'a😀\n' }])).toBe(3);
});

it.each([
  [1, 'started_minute', '1 started minute'],
  [2, 'line', '2 lines'],
  [3, 'frame', '3 frame'],
])('%d of %s is shown as %s', (quantity, unit, told) => {
  expect(describeUnits(quantity, unit)).toBe(told);
});

it('credits are counted in thousandths, rounded to the nearest one, and read back unchanged', () => {
  expect([0.001, 0.0005, 0.1 + 0.2, 12.345].map(toThousandths)).toEqual([1, 1, 300, 12_345]);
  expect(toCredits(12_345)).toBe(12.345);
});
