import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findPauses,
  joinSegments,
  nearestWindows,
  packSegments,
  segmentFinder,
} from '../../../src/media/audio/segments.ts';

test('a time is in a segment with a margin of 0.15 s around it', () => {
  const find = segmentFinder([
    { start: 1, end: 2 },
    { start: 4, end: 5 },
  ]);
  const times = [0, 0.84, 0.86, 1.5, 2.14, 2.16, 3.84, 3.86, 5.14, 5.16, 9];
  expect(times.map(find)).toEqual([-1, -1, 0, 0, 0, -1, -1, 1, 1, -1, -1]);
});

test('without segments there is never speech', () => {
  expect([0, 1, 2].map(segmentFinder([]))).toEqual([-1, -1, -1]);
});

test('segments with less than 0.3 s between them become one, unless it would be too long', () => {
  const segments = [
    { start: 4, end: 5 },
    { start: 1, end: 2 },
    { start: 2.2, end: 3 },
    { start: 5.1, end: 9 },
  ];
  expect(joinSegments(segments, 4)).toEqual([
    { start: 1, end: 3 },
    { start: 4, end: 5 },
    { start: 5.1, end: 9 },
  ]);
  expect(joinSegments(segments, 5)).toEqual([
    { start: 1, end: 3 },
    { start: 4, end: 9 },
  ]);
});

const limits = { window: 10, count: 3, sampleRate: 100 };

test('pauses are between the segments, without the margin of 0.15 s', () => {
  const pauses = findPauses(
    [
      { start: 1, end: 2 },
      { start: 4, end: 5 },
    ],
    5.1,
  );
  expect(pauses).toEqual([
    { start: 0, end: 0.85 },
    { start: 2.15, end: 3.85 },
  ]);
});

test('sound without speech is one pause, and continuous speech has none', () => {
  expect(findPauses([], 3)).toEqual([{ start: 0, end: 3 }]);
  expect(findPauses([{ start: 0.1, end: 2.9 }], 3)).toEqual([]);
});

test('the nearest windows on both sides are used, and more distant pauses extend short ones', () => {
  const pauses = [
    { start: 0, end: 1 },
    { start: 2, end: 2.25 },
    { start: 2.5, end: 2.55 },
    { start: 4, end: 9 },
  ];
  expect(nearestWindows(pauses, 3, limits)).toEqual({ before: [215, 205, 90], after: [400, 410, 420] });
});

test('only the pauses after the beginning of the sound are used there', () => {
  expect(nearestWindows([{ start: 4, end: 4.2 }], 1, limits)).toEqual({ before: [], after: [400, 410] });
});

describe('packs of segments for recognizers', () => {
  /** Segments in order, of pairs of a pause and a length in seconds. */
  const layOut = (pairs: readonly (readonly [number, number])[]) => {
    let at = 0;
    return pairs.map(([pause, length]) => {
      const start = at + pause;
      at = start + length;
      return { start, end: at };
    });
  };
  const seconds = (pack: readonly { start: number; end: number }[]) =>
    (pack.at(-1)?.end ?? 0) - (pack[0]?.start ?? 0);

  test('have each segment once and in order, and last at most 30 s unless one segment is longer', () => {
    const length = fc.double({ min: 0.01, max: 40, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(length, length)), fc.constantFrom(5, 30), (pairs, fill) => {
        const segments = layOut(pairs);
        const packs = packSegments(segments, fill);
        expect(packs.flat()).toEqual(segments);
        for (const pack of packs) {
          expect(pack.length).toBeGreaterThan(0);
          if (pack.length > 1) expect(seconds(pack)).toBeLessThanOrEqual(30);
        }
      }),
    );
  });

  test('last at least 5 s if the speech is dense', () => {
    const dense = fc.tuple(
      fc.double({ min: 0.3, max: 2, noNaN: true }),
      fc.double({ min: 0.2, max: 8, noNaN: true }),
    );
    fc.assert(
      fc.property(fc.array(dense, { minLength: 25 }), (pairs) => {
        for (const pack of packSegments(layOut(pairs))) expect(seconds(pack)).toBeGreaterThanOrEqual(5);
      }),
    );
  });

  test('of speech that is far apart stay short', () => {
    const segments = layOut([
      [0, 1],
      [40, 2],
    ]);
    expect(packSegments(segments)).toEqual(segments.map((segment) => [segment]));
  });
});
