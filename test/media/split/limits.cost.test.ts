import { expect, test } from 'vitest';
import { describeSplitCost, SERVICE_SPLIT, videoSplitCost } from '../../../src/media/split/limits.ts';

test('each part of a video begins a minute of its own', () => {
  const video = { durationSeconds: 40 * 60 + 10, bytes: 1e8 };
  const cost = videoSplitCost('auto_localization', video, SERVICE_SPLIT);
  expect(cost).toEqual({ parts: 3, unit: 'started_minute', units: 42, unitsWhole: 41 });
  expect(describeSplitCost(cost)).toBe(
    '--split would cut it into 3 parts, about 42 started minutes (1 more than in one piece)',
  );
});

test('a split without extra units names no more of them', () => {
  const cost = { parts: 3, unit: 'line', units: 20_001, unitsWhole: 20_001 } as const;
  expect(describeSplitCost(cost)).toBe('--split would cut it into 3 parts, about 20001 lines');
});
