import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { ffprobe } from '../../engines/workspace.ts';
import { readCues } from '../../support/media.ts';
import { SOURCE_WORDS, type Staging, startStaging, streamsOf } from './staging.ts';

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

const KEEPING = [...LOCALIZE, '--keep-audio', '--keep-subtitles'];
const TRANSCRIPT = `1
00:00:00,000 --> 00:00:01,200
good morning

2
00:00:01,500 --> 00:00:02,700
and good night
`;

/** Codec and language of each stream. */
const tracksOf = (file: string) =>
  ffprobe(file, 'stream=codec_name:stream_tags=language').replaceAll('\n', ' ');

it.each<[string, (vloc: Staging) => Promise<void>, readonly string[]]>([
  ['recognized in a language that nobody stated', async () => undefined, KEEPING.toSpliced(4, 2)],
  [
    'recognized and edited',
    async (vloc) => {
      await vloc.run([...KEEPING, '--stop-after', 'recognize']);
      await vloc.edit('talk.en.srt', 'good night', 'good evening');
    },
    KEEPING,
  ],
  ['written by the user', (vloc) => writeFile(vloc.path('talk.en.srt'), TRANSCRIPT), KEEPING],
])(
  'a finished video keeps its tracks when the translation is edited, if the transcript was %s',
  async (_, prepare, words) => {
    const vloc = await startStaging();
    await prepare(vloc);
    const made = await vloc.run(words);
    expect(made.code, made.stderr).toBe(0);
    const tracks = tracksOf(vloc.path('talk.es.mp4'));
    expect(tracks).toBe('h264 und aac spa aac eng mov_text eng');
    const spoken = readCues(vloc.path('talk.es.mp4'));
    const [recognized, translated] = await vloc.jobs();
    await vloc.edit('talk.es.srt', 'GOOD', 'MUY');
    const edited = await vloc.run(words);
    expect(edited.code, edited.stderr).toBe(0);
    expect(vloc.dubbed.at(-1)).toContain('MUY');
    expect(tracksOf(vloc.path('talk.es.mp4'))).toBe(tracks);
    expect(readCues(vloc.path('talk.es.mp4'))).toEqual(spoken);
    expect((await vloc.jobs()).slice(0, 2)).toEqual([recognized, translated]);
  },
);
