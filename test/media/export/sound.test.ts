import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SoundFormat } from '../../../src/base/sound-formats.ts';
import { readComment, readMark } from '../../../src/media/export/mark.ts';
import { writeSound } from '../../../src/media/export/sound.ts';
import { ffmpeg, programs, speechClip } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { askProgram } from '../../support/remembered-programs.ts';
import { makeSound, measureSound, readSound, TAGS } from '../../support/sounds.ts';

const signal = new AbortController().signal;

/** Each runs ffmpeg a dozen times, on machines that do other work too. */
const PATIENCE = { timeout: 300_000 };

/** Three seconds of a finished video, stereo at 48 kHz. */
function finished(folder: string, sound = 'sine=f=300:r=48000:d=3'): string {
  const path = join(folder, 'finished.mp4');
  ffmpeg(
    ...['-f', 'lavfi', '-i', 'color=s=64x48:r=10:d=3', '-f', 'lavfi', '-i', sound],
    ...[
      '-map',
      '0:v',
      '-map',
      '1:a',
      '-c:v',
      'libx264',
      '-c:a',
      'aac',
      '-b:a',
      '160k',
      '-ac',
      '2',
      '-y',
      path,
    ],
  );
  return path;
}

describe('the sound of a finished video', PATIENCE, () => {
  const cases: [string, SoundFormat, string, string][] = [
    ['mp3', 'mp3', 'mp3', 'mp3'],
    ['m4a', 'm4a', 'mov,mp4,m4a,3gp,3g2,mj2', 'aac'],
    ['aac', 'aac', 'aac', 'aac'],
    ['wav', 'wav', 'wav', 'pcm_s16le'],
    ['flac', 'flac', 'flac', 'flac'],
    ['ogg', 'ogg', 'ogg', 'vorbis'],
    ['opus', 'opus', 'ogg', 'opus'],
  ];
  it.each(cases)(
    'has the format, tags, chapters and cover of an episode in %s',
    async (extension, format, container, codec) => {
      const folder = makeFolder();
      const source = makeSound(folder, `episode.${extension}`);
      const before = readSound(source);
      const mark = { isSpoken: true, from: 'en', to: ['es'], engines: [], atMs: 0 };
      const task = { video: finished(folder), source: { path: source, track: 1 }, format, language: 'es' };
      const { path, notes } = await writeSound(programs, { ...task, mark }, { signal, folder });
      const after = readSound(path);
      expect(notes).toEqual([]);
      const comment = (await readComment(programs, path, { signal, folder })) ?? '';
      expect(readMark(comment)).toMatchObject({ synthetic_speech: true, to: ['es'], date: '1970-01-01' });
      expect(after).toMatchObject({ container, codec, chapters: before.chapters, covers: before.covers });
      const { encoder: _, ...tags } = after.tags;
      if (extension !== 'aac') expect(tags).toMatchObject(TAGS);
      expect(tags).not.toHaveProperty('replaygain_track_gain');
      expect(tags).not.toHaveProperty('handler_name', 'VideoHandler');
      expect(Math.abs(after.seconds - 3)).toBeLessThan(0.1);
      expect(after.bits).toBeGreaterThanOrEqual(Math.min(before.bits, 64_000));
      if (container !== 'mov,mp4,m4a,3gp,3g2,mj2' && codec !== 'aac' && codec !== 'opus')
        expect([after.rate, after.channels]).toEqual([before.rate, before.channels]);
    },
  );

  it('has its cover in Ogg files too, and keeps that of such a file', async () => {
    const folder = makeFolder();
    const video = finished(folder);
    let source = makeSound(folder, 'episode.mp3');
    for (const format of ['ogg', 'opus'] as const) {
      const work = makeFolder();
      const task = { video, source: { path: source, track: 1 }, format, language: 'es' };
      source = (await writeSound(programs, task, { signal, folder: work })).path;
      expect(readSound(source)).toMatchObject({ covers: 1, chapters: ['0.0 One', '1.0 Two'], tags: TAGS });
    }
  });

  it('is copied into an M4A without being encoded again', async () => {
    const folder = makeFolder();
    const video = finished(folder);
    const task = { video, source: null, format: 'm4a', language: 'es' } as const;
    const { path } = await writeSound(programs, task, { signal, folder });
    const packets = (file: string) =>
      askProgram('ffmpeg', ['-v', 'error', '-i', file, '-map', '0:a:0', '-c', 'copy', '-f', 'framemd5', '-'])
        .toString()
        .split('\n')
        .filter((row) => !row.startsWith('#'))
        .map((row) => row.split(',').at(-1));
    expect(packets(path)).toEqual(packets(video));
    expect(readSound(path)).toMatchObject({ covers: 0, tags: { language: 'spa' } });
  });

  it('keeps 24 bits, and says that a WAV has no place for a cover', async () => {
    const folder = makeFolder();
    const video = finished(folder);
    const deep = join(folder, 'deep.wav');
    ffmpeg('-f', 'lavfi', '-i', 'sine=r=96000:d=3', '-ac', '2', '-c:a', 'pcm_s24le', deep);
    const task = { video, source: { path: deep, track: 1 }, format: 'wav', language: 'es' } as const;
    const made = await writeSound(programs, task, { signal, folder });
    expect(readSound(made.path)).toMatchObject({ codec: 'pcm_s24le', rate: 48_000, channels: 2 });
    const covered = { ...task, source: { path: makeSound(folder, 'covered.mp3'), track: 1 } };
    const { notes } = await writeSound(programs, covered, { signal, folder });
    expect(notes).toEqual(['its cover is left out, for which WAV has no place']);
  });
});

const SPEECH = speechClip('0880');

/** What they are, how ffmpeg makes them, and what is asked for. */
const SOUNDS: readonly [string, readonly string[], -14 | -16 | -23, SoundFormat][] = [
  ['a quiet voice', ['-i', SPEECH, '-af', 'volume=-15dB'], -14, 'mp3'],
  ['a loud voice, clipped', ['-i', SPEECH, '-af', 'volume=30dB'], -23, 'wav'],
  ['a voice with long silence', ['-i', SPEECH, '-af', 'apad=pad_dur=12'], -16, 'm4a'],
  ['loud noise', ['-f', 'lavfi', '-i', 'anoisesrc=a=0.9:c=pink:d=4:seed=1'], -14, 'opus'],
];

describe('a loudness that is asked for', PATIENCE, () => {
  it.each(SOUNDS)('is reached by %s, with true peaks below -1 dBTP', async (_, source, loudness, format) => {
    const folder = makeFolder();
    const video = join(folder, 'talk.mp4');
    const picture = ['-f', 'lavfi', '-i', 'color=s=64x48:r=1'];
    ffmpeg(...picture, ...source, '-shortest', '-c:a', 'aac', '-ar', '48000', '-y', video);
    const task = { video, source: null, format, loudness, language: 'es' };
    const { path, notes } = await writeSound(programs, task, { signal, folder });
    const { lufs, peak } = measureSound(path);
    expect(notes).toEqual([]);
    expect(Math.abs(lufs - loudness)).toBeLessThanOrEqual(0.5);
    expect(peak).toBeLessThanOrEqual(-1);
  });

  it.each([
    ['silence', 'anullsrc=r=48000:d=3', 'the sound is silent; its loudness is unchanged'],
    [
      'faint noise',
      'anoisesrc=a=0.001:d=3:seed=1',
      /^the sound has -6\d\.\d LUFS, so nobody speaks in it; its loudness is unchanged$/,
    ],
  ])('is not given to %s, which is said', async (_, source, note) => {
    const folder = makeFolder();
    const task = {
      video: finished(folder, source),
      source: null,
      format: 'm4a',
      loudness: -14,
      language: 'es',
    } as const;
    const { path, notes } = await writeSound(programs, task, { signal, folder });
    expect(notes).toEqual([expect.stringMatching(note)]);
    expect(readSound(path).seconds).toBeCloseTo(3, 0);
  });
});
