import { expect, test } from 'vitest';
import { readFacts } from '../../../src/media/probe/facts.ts';
import { measurePauses } from '../../../src/media/split/split-long-video.ts';
import { createWork, programs, SAMPLE } from '../../engines/workspace.ts';
import sample from '../../fixtures/sample.json' with { type: 'json' };
import { makeFolder } from '../../support/make-folder.ts';

test('pauses are found between the clips of the sample, under music, on the time line of the picture', async () => {
  const folder = makeFolder();
  const first = sample.clips[0];
  const second = sample.clips[1];
  const gap = { start: first?.end ?? 0, end: second?.start ?? 0 };
  const equal = (gap.start + gap.end) / 2;
  const window = { equal, start: equal - 3, end: equal + 3 };
  const work = createWork(folder);
  const [track] = (await readFacts(programs, SAMPLE, work)).tracks;
  if (track === undefined) throw new Error('the sample has sound');
  const video = { path: SAMPLE, track, timeline: { startSeconds: 0 } };
  const { silences, levels } = await measurePauses(programs, video, [window], work);
  const found = silences.filter(({ start, end }) => start < equal && end > equal);
  expect(found).toHaveLength(1);
  expect(Math.abs((found[0]?.start ?? 0) - gap.start)).toBeLessThan(0.4);
  expect(Math.abs((found[0]?.end ?? 0) - gap.end)).toBeLessThan(0.4);
  expect(levels.length).toBeGreaterThan(180);
});
