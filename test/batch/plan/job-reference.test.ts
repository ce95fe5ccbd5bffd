import { expect, it } from 'vitest';
import { namesJobWithLines, stemOfJob } from '../../../src/batch/plan/job-reference.ts';

it.each([
  'rec_01k9x2m4',
  'tra_01k9x2m4',
  'subtitle-recognitions/01K9',
  'subtitle_translation/job-7',
  '/v1/subtitle-recognitions/rec_01k9x2m4',
])('%s names a job with lines', (operand) => {
  expect(namesJobWithLines(operand)).toBe(true);
});

it.each([
  'dub_01k9x2m4',
  'loc_01k9x2m4',
  'upl_01k9x2m4',
  'rec_01k9x2m4.srt',
  'subtitle-recognitions/talk.srt',
  'dubbings/dub_1',
  'talk.srt',
])('%s names none', (operand) => {
  expect(namesJobWithLines(operand)).toBe(false);
});

it('names results by the id', () => {
  expect(stemOfJob('/v1/subtitle-recognitions/rec_1')).toBe('rec_1');
});
