import { expect, it } from 'vitest';
import { namesJobWithLines, stemOfJob, uploadIdOf } from '../../../src/batch/inputs/candidate.ts';

it.each([
  ['upl_01k9x2m4n6', 'upl_01k9x2m4n6'],
  ['eaf965cb-8c37-4964-80e5-d83f5b5c83a0', 'eaf965cb-8c37-4964-80e5-d83f5b5c83a0'],
  ['uploads/Q-1Zx-471', 'Q-1Zx-471'],
  ['/v1/uploads/Q-1Zx-471', 'Q-1Zx-471'],
  ['uploads/talk.mp4', null],
  ['talk.mp4', null],
])('%s names the upload %s', (operand, id) => {
  expect(uploadIdOf(operand)).toBe(id);
});

it.each(['tra_01k9x2m4', 'subtitle-recognitions/01K9', '/v1/subtitle-recognitions/rec_01k9x2m4'])(
  '%s names a job with lines',
  (operand) => {
    expect(namesJobWithLines(operand)).toBe(true);
  },
);

it.each(['dub_01k9x2m4', 'upl_01k9x2m4', 'rec_01k9x2m4.srt', 'dubbings/dub_1'])(
  '%s names neither',
  (operand) => {
    expect(namesJobWithLines(operand)).toBe(false);
  },
);

it('names results after the id', () => {
  expect(stemOfJob('/v1/subtitle-recognitions/rec_1')).toBe('rec_1');
});
