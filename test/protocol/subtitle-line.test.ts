import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLongerThan } from '../../src/protocol/subtitle-line.ts';
import { anyText } from './arbitraries.ts';

describe('the length of a text', () => {
  it.each([
    ['', 0, false],
    ['a', 0, true],
    ['abc', 3, false],
    ['abcd', 3, true],
    ['😀😀😀', 3, false],
    ['😀😀😀a', 3, true],
    ['😀😀😀😀', 3, true],
    ['中文字', 3, false],
  ])('%j is over %i: %s', (text, limit, expected) => {
    expect(isLongerThan(limit, text)).toBe(expected);
  });

  it('is counted in characters, not in code units', () => {
    fc.assert(
      fc.property(
        anyText(),
        fc.nat(12),
        (text, limit) => isLongerThan(limit, text) === Array.from(text).length > limit,
      ),
    );
  });
});
