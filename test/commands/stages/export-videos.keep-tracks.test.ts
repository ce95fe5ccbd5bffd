import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { ffprobe } from '../../engines/workspace.ts';
import { readCues } from '../../support/media.ts';
import { SOURCE_WORDS, type Staging, startStaging, streamsOf } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '--from-subtitles', '--original-audio', 'mute'];
const KEEPING = [...LOCALIZE, '--keep-audio', '--keep-subtitles'];

/** Codec and language of each stream. */
const tracksOf = (file: string) =>
  ffprobe(file, 'stream=codec_name:stream_tags=language').replaceAll('\n', ' ');
const KEPT = 'h264 und aac spa aac eng mov_text eng';

const textsOf = (file: string) => readCues(file).map(({ text }) => text);

it('a finished video keeps the original sound and the recognized subtitles after an edit of the translation, and is exported again without them', async () => {
  const vloc = await startStaging();
  const result = vloc.path('talk.es.mp4');
  const run = async (words: readonly string[]) => {
    const { code, stderr } = await vloc.run(words);
    expect(code, stderr).toBe(0);
  };
  // Nobody states the language.
  await run([...KEEPING, '--stop-after', 'translate']);
  await vloc.edit('talk.es.srt', 'GOOD', 'MUY');
  await run(KEEPING);
  expect(vloc.dubbed).toEqual(['MUY MORNING | AND GOOD NIGHT']);
  expect([tracksOf(result), textsOf(result)]).toEqual([KEPT, SOURCE_WORDS]);
  await run(LOCALIZE);
  expect(streamsOf(result)).toEqual(['h264', 'aac']);
  expect(await vloc.jobs()).toEqual([1, 1, 1, 0]);
});

const TRANSCRIPT = `1
00:00:00,000 --> 00:00:01,200
good morning

2
00:00:01,500 --> 00:00:02,700
and good evening
`;

it.each<[string, (vloc: Staging) => Promise<void>, readonly number[]]>([
  [
    'recognized and edited',
    async (vloc) => {
      await vloc.run([...KEEPING, '--from', 'en', '--stop-after', 'recognize']);
      await vloc.edit('talk.en.srt', 'good night', 'good evening');
    },
    [1, 1, 1, 0],
  ],
  ['written by the user', (vloc) => writeFile(vloc.path('talk.en.srt'), TRANSCRIPT), [0, 1, 1, 0]],
])(
  'a finished video has its tracks after an edit of the translation, if the transcript was %s',
  async (_, prepare, jobs) => {
    const vloc = await startStaging();
    await prepare(vloc);
    const words = [...KEEPING, '--from', 'en'];
    await vloc.run([...words, '--stop-after', 'translate']);
    await vloc.edit('talk.es.srt', 'GOOD', 'MUY');
    const made = await vloc.run(words);
    expect(made.code, made.stderr).toBe(0);
    expect(vloc.dubbed).toEqual(['MUY MORNING | AND GOOD EVENING']);
    expect(tracksOf(vloc.path('talk.es.mp4'))).toBe(KEPT);
    expect(textsOf(vloc.path('talk.es.mp4'))).toEqual(['good morning', 'and good evening']);
    expect(await vloc.jobs()).toEqual(jobs);
  },
);
