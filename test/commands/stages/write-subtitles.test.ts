/** Whose a subtitle beside a video is: vloc writes over none but the one that it left there last. */
import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { startStaging } from './staging.ts';

const WORDS = ['localize', 'talk.mp4', '--to', 'es', '--from-subtitles', '--stop-after', 'translate'];

it("an earlier version of a translation that the user has restored is the user's: it is reported and not changed", async () => {
  const vloc = await startStaging();
  await writeFile(vloc.path('talk.en.srt'), '1\n00:00:00,000 --> 00:00:00,900\ngood morning\n');
  await vloc.run(WORDS);
  const first = vloc.read('talk.es.srt');
  await vloc.edit('talk.en.srt', 'good morning', 'good evening');
  await vloc.run(WORDS);
  expect(vloc.read('talk.es.srt')).toContain('GOOD EVENING');
  await writeFile(vloc.path('talk.es.srt'), first);
  const { code, stderr } = await vloc.run(WORDS);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('talk.es.srt: 1 cue changed, 0 unchanged');
  expect(vloc.read('talk.es.srt')).toBe(first);
  expect(await vloc.jobs()).toEqual([0, 2, 0, 0]);
});
