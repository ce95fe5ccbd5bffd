import { expect, it } from 'vitest';
import { readCues } from '../../support/media.ts';
import { SOURCE_WORDS, startStaging, streamsOf } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '--from', 'en', '--from-subtitles'];

it('a finished video keeps the original sound and the recognized subtitles, and is exported again without them', async () => {
  const vloc = await startStaging();
  const kept = await vloc.run([...LOCALIZE, '--keep-audio', '--keep-subtitles']);
  expect(kept.code, kept.stderr).toBe(0);
  expect(streamsOf(vloc.path('talk.es.mp4'))).toEqual(['h264', 'aac', 'aac', 'mov_text']);
  expect(readCues(vloc.path('talk.es.mp4')).map(({ text }) => text)).toEqual(SOURCE_WORDS);
  const jobs = await vloc.jobs();
  const plain = await vloc.run(LOCALIZE);
  expect(plain.code, plain.stderr).toBe(0);
  expect(streamsOf(vloc.path('talk.es.mp4'))).toEqual(['h264', 'aac']);
  expect(await vloc.jobs()).toEqual(jobs);
});
