import { expect, it } from 'vitest';
import type { VideoItem } from '../../src/batch/inputs/stage-items.ts';
import { enginesOf, stepsOfStages } from '../../src/batch/made-steps.ts';
import { videoItem } from './recipes/support/bench.ts';
import { recordsOf } from './records/support/records-of.ts';

it('subtitles that no job has made are a given file, which has no engine', () => {
  const item: VideoItem = videoItem({ path: '/talk.mp4' });
  const records = { ...recordsOf([]), provenanceOf: () => null };
  const steps = stepsOfStages(records, item, { source: null, target: 'mine.srt' }, (path) => path);
  expect(steps).toEqual([{ step: 'translate', by: 'given file', engine: null }]);
  expect(enginesOf(steps)).toEqual([]);
});
