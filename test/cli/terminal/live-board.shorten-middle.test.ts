import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { shortenMiddle } from '../../../src/cli/terminal/live-board.ts';

it.each([
  ['talk.mp4 → es', 13, 'talk.mp4 → es'],
  ['talk.mp4 → es', 12, 'talk.m… → es'],
  ['字幕字幕字幕', 8, '字幕…幕'],
  ['👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', 5, '👨‍👩‍👧…👨‍👩‍👧'],
  ['abc', 1, '…'],
])('%s in %i cells is %s', (text, width, shortened) => {
  expect(shortenMiddle(text, width)).toBe(shortened);
});

it('always fits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 30 }), (text, width) => {
      expect(stringWidth(shortenMiddle(text, width))).toBeLessThanOrEqual(Math.max(width, 1));
    }),
  );
});
