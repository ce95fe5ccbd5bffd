import { expect, test } from 'vitest';
import { softLines } from '../../../src/engines/export/soft-lines.ts';

const line = (index: number, start_ms: number, end_ms: number) => ({
  index,
  start_ms,
  end_ms,
  text: '<i>a</i>',
});

test('lines end with the video at the latest, and those behind its end are left out', () => {
  const lines = softLines([line(1, 0, 900), line(2, 950, 3000), line(3, 1000, 2000)], 1.0005);
  expect(lines.map(({ start_ms, end_ms }) => [start_ms, end_ms])).toEqual([
    [0, 900],
    [950, 1000],
  ]);
});

test('markup that players would show as it is goes', () => {
  expect(softLines([line(1, 0, 900)], 1)).toMatchObject([{ text: 'a' }]);
});
