import { expect, test } from 'vitest';
import { enterStage, keepProgressRising, shareProgress } from '../../src/media/work.ts';
import { createWork } from '../engines/workspace.ts';

test('a part reports its share of the whole, under its stage', () => {
  const work = createWork('/unused');
  const part = enterStage(work, 0.2, 0.6, 'dubbing');
  shareProgress(part, 0.5, 1).report(0.5);
  expect(work.reports).toEqual([
    { fraction: 0.2, stage: 'dubbing' },
    { fraction: expect.closeTo(0.5), stage: 'dubbing' },
  ]);
});

test('progress never falls and is always between 0 and 1', () => {
  const work = createWork('/unused');
  const safe = keepProgressRising(work);
  for (const fraction of [0.1, 0.5, 0.3, 7, -1]) safe.report(fraction);
  expect(work.reports.map(({ fraction }) => fraction)).toEqual([0.1, 0.5, 0.5, 1, 1]);
});
