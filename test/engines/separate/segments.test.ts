import { expect, test } from 'vitest';
import { segmentFinder } from '../../../src/engines/separate/segments.ts';

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
