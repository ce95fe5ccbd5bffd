import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineAt, pairLines } from '../../../src/batch/page/lines.ts';
import type { SubtitleLine } from '../../../src/protocol/subtitle-line.ts';

const line = (start_ms: number, end_ms: number, text = ''): SubtitleLine => ({
  index: 1,
  start_ms,
  end_ms,
  text,
});

describe('lines in two languages', () => {
  it('of the same times are beside each other', () => {
    const pairs = pairLines(
      [line(0, 10, 'one'), line(10, 20, 'two')],
      [line(0, 10, 'uno'), line(10, 20, 'dos')],
    );
    expect(pairs.map(({ original, translated }) => [original?.text, translated?.text])).toEqual([
      ['one', 'uno'],
      ['two', 'dos'],
    ]);
  });

  it('of other times are beside the one with the longest overlap', () => {
    const pairs = pairLines([line(0, 10, 'short'), line(10, 40, 'long')], [line(5, 35, 'largo')]);
    expect(pairs.map(({ original, translated }) => [original?.text, translated?.text])).toEqual([
      ['short', undefined],
      ['long', 'largo'],
    ]);
  });

  it('are alone if the other side is silent', () => {
    const pairs = pairLines([line(100, 200)], [line(0, 50)]);
    expect(pairs.map(({ start_ms }) => start_ms)).toEqual([0, 100]);
  });

  it('are never lost nor shown twice, and stay in order', () => {
    const times = fc.array(fc.tuple(fc.nat(500), fc.integer({ min: 1, max: 60 })), { maxLength: 30 });
    const sorted = times.map((list) =>
      list.map(([start, length]) => line(start, start + length)).sort((a, b) => a.start_ms - b.start_ms),
    );
    fc.assert(
      fc.property(sorted, sorted, (originals, translations) => {
        const pairs = pairLines(originals, translations);
        const of = (side: 'original' | 'translated') => pairs.flatMap((pair) => pair[side] ?? []);
        expect(new Set(of('original'))).toEqual(new Set(originals));
        expect(of('original')).toHaveLength(originals.length);
        expect(of('translated')).toEqual(translations);
        expect(pairs.map((pair) => pair.start_ms)).toEqual(
          pairs.map((pair) => pair.start_ms).toSorted((a, b) => a - b),
        );
      }),
    );
  });
});

describe('the line of a time', () => {
  const lines = [{ start_ms: 100 }, { start_ms: 200 }, { start_ms: 300 }];

  it.each([
    [99, -1],
    [100, 0],
    [250, 1],
    [9_999, 2],
  ])('at %i ms is number %i', (ms, place) => {
    expect(lineAt(lines, ms)).toBe(place);
  });
});
