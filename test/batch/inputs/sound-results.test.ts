/** Sound as a result: its format and its name, what it cannot have, and sound files in folders. */
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import type { SoundFormat } from '../../../src/base/sound-formats.ts';
import type { PlanIo } from '../../../src/batch/inputs/plan-request.ts';
import { createFolder, MP4, plan, problemsOf } from '../plan/support.ts';

/** The mark of an MP3, and of nothing else that is sound; nothing here reads further. */
const SOUND = Buffer.from('ID3\x04\0\0\0\0\0\0');

/** Takes a file for sound by its name, and for Opus if it may be that. */
const examineVideo: PlanIo['examineVideo'] = async (path) => {
  const formats: Readonly<Record<string, SoundFormat>> = { mp3: 'mp3', oga: 'opus', wav: 'wav', m4b: 'm4a' };
  const sound = formats[path.split('.').at(-1)?.toLowerCase() ?? ''];
  const still = { conversion: 'still', reasons: [], track: 1, parts: 1, minutes: null, bytes: 9 } as const;
  return {
    ...{ type: 'usable', seconds: 61, preparation: sound === undefined ? null : still },
    ...(sound === undefined ? {} : { sound }),
  };
};

const FILES = { 'talk.mp4': MP4, 'a.MP3': SOUND, 'b.oga': SOUND, 'c.wav': SOUND, 'd.m4b': SOUND };

/** Plans Spanish for some of these files. */
const planned = (operands: readonly string[], options: Record<string, unknown> = {}, files: object = FILES) =>
  plan(createFolder({ ...files }), operands, { options: { to: ['es'], ...options }, io: { examineVideo } });

it('sound is written in its own format, with its own ending, and that of a video as M4A', async () => {
  const found = await planned(Object.keys(FILES), { soundOnly: true });
  expect(found.planned.map(({ item, paths }) => [item.sound?.format, basename(paths?.[0] ?? '')])).toEqual([
    ['m4a', 'talk.es.m4a'],
    ['mp3', 'a.es.mp3'],
    ['opus', 'b.es.oga'],
    ['wav', 'c.es.wav'],
    ['m4a', 'd.es.m4b'],
  ]);
});

it.each([
  [{ subtitleOutput: 'burned' }, '--subtitle-output'],
  [{ resolution: '720p' }, '--resolution'],
  [{ keepAudio: true }, '--keep-audio'],
  [{ mode: 'subtitles_only' }, '--mode subtitles_only'],
])('sound is refused with what only a picture can have: %j', async (options, flag) => {
  const problems = await problemsOf(planned(['a.MP3'], options));
  expect(problems).toContainEqual(
    expect.stringContaining(`a.MP3: is sound without a picture, for which ${flag} does nothing`),
  );
});

it('the sound of a video alone is refused with a picture, a loudness for a video, and a name of another file', async () => {
  const burned = planned(['talk.mp4'], { soundOnly: true, subtitleOutput: 'burned' });
  expect(await problemsOf(burned)).toEqual([
    expect.stringContaining('without a picture, for which --subtitle-output does nothing'),
  ]);
  expect(await problemsOf(planned(['talk.mp4'], { loudness: '-14' }))).toEqual([
    '--loudness: is for sound; add --sound-only, or give sound',
  ]);
  expect(await problemsOf(planned(['a.MP3'], { name: '{stem}.{lang}.mp4' }))).toEqual([
    '--name: ends in .mp4, and the result is .mp3; end it in {ext}',
  ]);
});

it('a sound file of a folder that cannot have what its videos get fails alone', async () => {
  const files = { 'in/talk.mp4': MP4, 'in/episode.mp3': SOUND };
  const found = await planned(['in'], { subtitleOutput: 'soft', out: 'out' }, files);
  expect(found.planned.map(({ item: { input } }) => [input.label, input.type])).toEqual([
    ['in/episode.mp3', 'unusable'],
    ['in/talk.mp4', 'file'],
  ]);
  expect(found.planned[0]?.decision).toMatchObject({
    detail: expect.stringContaining(
      'it is sound without a picture, for which --subtitle-output does nothing',
    ),
  });
});

it('a folder gives its sound files, but none beside a video of the same name, unless it is named', async () => {
  const files = {
    ...{ 'in/talk.mp4': MP4, 'in/episode.mp3': SOUND, 'in/talk.wav': SOUND, 'in/talk.es.wav': SOUND },
    'in/week1/talk.mp3': SOUND,
  };
  const found = await planned(['in'], { out: 'out' }, files);
  expect(found.planned.map(({ item }) => item.input.label)).toEqual([
    ...['in/episode.mp3', 'in/talk.mp4', 'in/week1/talk.mp3'],
  ]);
  expect(found.notes).toContain(
    'Skipped sound files beside a video of the same name: in/talk.es.wav and 1 more; name such a file itself to use it.',
  );
  const named = await planned(['in/talk.wav'], { out: 'out' }, files);
  expect(named.planned.map(({ item }) => item.input.label)).toEqual(['in/talk.wav']);
});

it('a file is sound or a video by what is found in it, not by its name', async () => {
  const examine: PlanIo['examineVideo'] = async (path) => ({
    ...{ type: 'usable', seconds: 61, preparation: null },
    ...(basename(path) === 'pictureless.mp4' ? { sound: 'm4a' } : {}),
  });
  const cwd = createFolder({ 'renamed.mp3': MP4, 'pictureless.mp4': MP4 });
  const found = await plan(cwd, ['renamed.mp3', 'pictureless.mp4'], {
    options: { to: ['es'] },
    io: { examineVideo: examine },
  });
  expect(found.planned.map(({ paths }) => basename(paths?.[0] ?? ''))).toEqual([
    'renamed.es.mp4',
    'pictureless.es.m4a',
  ]);
});
