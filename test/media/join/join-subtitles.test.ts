import { expect, test } from 'vitest';
import { joinSubtitles } from '../../../src/media/split/subtitle-parts.ts';

const line = (start_ms: number, end_ms: number, text: string) => ({ index: 1, start_ms, end_ms, text });

test('parts are moved to their times and numbered again; cues that cross the seam end there', () => {
  const joined = joinSubtitles(
    [[line(0, 900, 'a'), line(9000, 10_040, 'b')], [line(500, 1500, 'c')]],
    [0, 10_000],
  );
  expect(joined).toEqual([
    { index: 1, start_ms: 0, end_ms: 900, text: 'a' },
    { index: 2, start_ms: 9000, end_ms: 10_000, text: 'b' },
    { index: 3, start_ms: 10_500, end_ms: 11_500, text: 'c' },
  ]);
});

test('two halves of one cue become one, a repeated word elsewhere does not', () => {
  const halves = joinSubtitles([[line(9000, 10_000, 'same')], [line(20, 800, 'same')]], [0, 10_000]);
  expect(halves).toEqual([{ index: 1, start_ms: 9000, end_ms: 10_800, text: 'same' }]);
  expect(joinSubtitles([[line(9000, 9500, 'no')], [line(20, 800, 'no')]], [0, 10_000])).toHaveLength(2);
});
