import { expect, test } from 'vitest';
import { describeSplitCost, subtitleSplitCost, videoSplitCost } from '../../../src/media/split/limits.ts';

test('each part of a video begins a minute of its own', () => {
  const cost = videoSplitCost('auto_localization', { durationSeconds: 40 * 60 + 10, bytes: 1e8 });
  expect(cost).toEqual({ parts: 3, unit: 'started_minute', units: 42, unitsWhole: 41 });
  expect(describeSplitCost(cost)).toBe(
    '--split would cut it into 3 parts, about 42 started minutes (1 more than in one piece)',
  );
});

test('splitting a subtitle costs nothing', () => {
  expect(describeSplitCost(subtitleSplitCost(20_001))).toBe(
    '--split would cut it into 3 parts, about 20001 lines',
  );
});
