import { expect, test } from 'vitest';
import { measurePauses } from '../../../src/media/split/split-long-video.ts';
import { createWork, programs, SAMPLE } from '../../engines/workspace.ts';
import sample from '../../fixtures/sample.json' with { type: 'json' };
import { readLongVideo } from '../../prepare/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

test('pauses are found between the clips of the sample, under music, on the time line of the picture', async () => {
  const folder = makeFolder();
  const first = sample.clips[0];
  const second = sample.clips[1];
  const gap = { start: first?.end ?? 0, end: second?.start ?? 0 };
  const equal = (gap.start + gap.end) / 2;
  const window = { equal, start: equal - 3, end: equal + 3 };
  const video = await readLongVideo(SAMPLE, folder);
  const { silences, levels } = await measurePauses(programs, video, [window], createWork(folder));
  const found = silences.filter(({ start, end }) => start < equal && end > equal);
  expect(found).toHaveLength(1);
  expect(Math.abs((found[0]?.start ?? 0) - gap.start)).toBeLessThan(0.4);
  expect(Math.abs((found[0]?.end ?? 0) - gap.end)).toBeLessThan(0.4);
  expect(levels.length).toBeGreaterThan(180);
});
