import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SoundFormat } from '../../../src/base/sound-formats.ts';
import { readMark } from '../../../src/media/export/mark.ts';
import { writeSound } from '../../../src/media/export/sound.ts';
import { ffmpeg, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { streamSums } from '../../support/media.ts';
import { makeSound, readSound, TAGS } from '../../support/sounds.ts';

const signal = new AbortController().signal;

const CLIP = join(import.meta.dirname, '../../fixtures/two-seconds.mp4');

/** Each format is written from a file of another one, which may be written before it; by the names of ffmpeg. */
const STEPS: readonly {
  readonly from: SoundFormat | 'deep';
  readonly format: SoundFormat;
  readonly container: string;
  readonly codec: string;
  /** Rate and channels. Copied sound is like the video, all other is like the source. */
  readonly like: readonly [number, number];
  readonly notes?: readonly string[];
  readonly depth?: number;
}[] = [
  {
    ...{ from: 'deep', format: 'wav', container: 'wav', codec: 'pcm_s24le', like: [44_100, 1] },
    ...{ notes: ['its cover is left out, for which WAV has no place'], depth: 24 },
  },
  { from: 'deep', format: 'opus', container: 'ogg', codec: 'opus', like: [48_000, 1] },
  { from: 'deep', format: 'ogg', container: 'ogg', codec: 'vorbis', like: [44_100, 1] },
  { from: 'opus', format: 'mp3', container: 'mp3', codec: 'mp3', like: [48_000, 1] },
  { from: 'opus', format: 'flac', container: 'flac', codec: 'flac', like: [48_000, 1], depth: 16 },
  {
    ...{ from: 'opus', format: 'aac', container: 'aac', codec: 'aac', like: [48_000, 2] },
    notes: ['its cover is left out, for which AAC has no place'],
  },
  { from: 'opus', format: 'm4a', container: 'mov,mp4,m4a,3gp,3g2,mj2', codec: 'aac', like: [48_000, 2] },
];

test('the sound of a finished video has the format, tags, chapters, cover and 24 bits of an episode, and in M4A the packets of the video', async () => {
  const folder = makeFolder();
  const video = join(folder, 'finished.mp4');
  ffmpeg('-i', CLIP, '-c:v', 'copy', '-c:a', 'aac', '-b:a', '160k', '-ar', '48000', '-ac', '2', video);
  const deep = 'sine=f=440:r=44100:d=2,aformat=sample_fmts=s32';
  const made = new Map<string, string>([['deep', makeSound(folder, 'deep.alac', 2, deep)]]);
  const mark = { isSpoken: true, from: 'en', to: ['es'], engines: [], atMs: 0 };
  for (const { from, format, container, codec, like, notes = [], depth = 0 } of STEPS) {
    const source = { path: made.get(from) ?? '', track: 1 };
    const task = { video, source, format, language: 'es', mark };
    const written = await writeSound(programs, task, { signal, folder: makeFolder() });
    made.set(format, written.path);
    const after = readSound(written.path);
    expect(written.notes, format).toEqual(notes);
    expect(after, format).toMatchObject({ container, codec, depth, tags: TAGS });
    expect([after.rate, after.channels], format).toEqual(like);
    if (format !== 'wav' && format !== 'aac')
      expect(after, format).toMatchObject({ covers: 1, chapters: ['0.0 One', '1.0 Two'] });
    expect(readMark(after.tags.comment ?? ''), format).toMatchObject({
      synthetic_speech: true,
      to: ['es'],
      date: '1970-01-01',
    });
    expect(after.tags).not.toHaveProperty('replaygain_track_gain');
    expect(after.tags).not.toHaveProperty('handler_name', 'VideoHandler');
    expect(Math.abs(after.seconds - 2), format).toBeLessThan(0.1);
    expect(after.bits, format).toBeGreaterThan(39_000);
    if (format !== 'm4a') continue;
    expect(after.tags.language).toBe('spa');
    const [copied, delivered] = streamSums([written.path, video], ['0:a', '1:a']);
    expect(copied).toEqual(delivered);
  }
});
