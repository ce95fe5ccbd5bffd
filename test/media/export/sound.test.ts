import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SoundFormat } from '../../../src/base/sound-formats.ts';
import { readMark } from '../../../src/media/export/mark.ts';
import { writeSound } from '../../../src/media/export/sound.ts';
import { ffmpeg, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { askProgram } from '../../support/remembered-programs.ts';
import { makeSound, measureSound, readSound, TAGS } from '../../support/sounds.ts';

const signal = new AbortController().signal;

/** Each runs ffmpeg a dozen times, on machines that do other work too. */
const PATIENCE = { timeout: 300_000 };

/** Two seconds of a finished video, stereo at 48 kHz. */
function finished(folder: string, sound = 'sine=f=300:r=48000:d=2'): string {
  const path = join(folder, 'finished.mp4');
  const inputs = ['-f', 'lavfi', '-i', 'color=s=64x48:r=5:d=2', '-f', 'lavfi', '-i', sound];
  ffmpeg(...inputs, '-preset', 'ultrafast', '-c:a', 'aac', '-b:a', '160k', '-ac', '2', path);
  return path;
}

/** Each format is written from a file of another one, which may be written before it; by the names of ffmpeg. */
const STEPS: readonly {
  readonly from: SoundFormat | 'tagged' | 'deep';
  readonly format: SoundFormat;
  readonly container: string;
  readonly codec: string;
  /** Rate and channels. Copied sound and AAC are like the video, all other is like the source. */
  readonly like: readonly [number, number];
  readonly notes?: readonly string[];
  readonly loudness?: number;
}[] = [
  { from: 'tagged', format: 'flac', container: 'flac', codec: 'flac', like: [44_100, 1] },
  {
    ...{ from: 'deep', format: 'wav', container: 'wav', codec: 'pcm_s24le', like: [44_100, 1] },
    notes: ['its cover is left out, for which WAV has no place'],
  },
  {
    ...{ from: 'tagged', format: 'aac', container: 'aac', codec: 'aac', like: [48_000, 1], loudness: -20 },
    notes: ['its cover is left out, for which AAC has no place'],
  },
  { from: 'tagged', format: 'ogg', container: 'ogg', codec: 'vorbis', like: [44_100, 1] },
  { from: 'tagged', format: 'opus', container: 'ogg', codec: 'opus', like: [48_000, 1] },
  { from: 'opus', format: 'm4a', container: 'mov,mp4,m4a,3gp,3g2,mj2', codec: 'aac', like: [48_000, 2] },
  { from: 'm4a', format: 'mp3', container: 'mp3', codec: 'mp3', like: [48_000, 2] },
];

/** Digests of the packets of two files, as they are stored. */
function packetsOf(...files: [string, string]): string[][] {
  const args = [...files.flatMap((file) => ['-i', file]), '-map', '0:a', '-map', '1:a', '-c', 'copy'];
  const rows = askProgram('ffmpeg', ['-v', 'error', ...args, '-f', 'framemd5', '-'])
    .toString()
    .split('\n');
  return ['0,', '1,'].map((stream) =>
    rows.filter((row) => row.startsWith(stream)).map((row) => row.split(',').at(-1) ?? ''),
  );
}

describe('the sound of a finished video', PATIENCE, () => {
  it('has the format, tags, chapters, cover and 24 bits of an episode, and in M4A the packets of the video', async () => {
    const folder = makeFolder();
    const video = finished(folder);
    const deep = 'sine=f=440:r=44100:d=2,aformat=sample_fmts=s32';
    const made = new Map([
      ['tagged', makeSound(folder, 'episode.mp3', 2)],
      ['deep', makeSound(folder, 'deep.flac', 2, deep)],
    ]);
    const mark = { isSpoken: true, from: 'en', to: ['es'], engines: [], atMs: 0 };
    for (const { from, format, container, codec, like, notes = [], loudness } of STEPS) {
      const source = { path: made.get(from) ?? '', track: 1 };
      const task = { video, source, format, language: 'es', mark, loudness };
      const written = await writeSound(programs, task, { signal, folder: makeFolder() });
      made.set(format, written.path);
      const after = readSound(written.path);
      expect(written.notes, format).toEqual(notes);
      expect(after, format).toMatchObject({ container, codec, tags: TAGS });
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
      if (loudness !== undefined) expect(measureSound(written.path).lufs).toBeCloseTo(loudness, 0);
      if (format !== 'm4a') continue;
      expect(after.tags.language).toBe('spa');
      const [copied, delivered] = packetsOf(written.path, video);
      expect(copied).toEqual(delivered);
    }
  });

  it('has 16 bits and no cover where there is no source, and keeps its loudness if it is silent, which is said', async () => {
    const folder = makeFolder();
    const video = finished(folder, 'anullsrc=r=48000:d=2');
    const task = { video, source: null, format: 'wav', loudness: -14, language: 'es' } as const;
    const { path, notes } = await writeSound(programs, task, { signal, folder });
    expect(notes).toEqual(['the sound is silent; its loudness is unchanged']);
    const { seconds, ...after } = readSound(path);
    expect(seconds).toBeCloseTo(2, 0);
    expect(after).toMatchObject({ codec: 'pcm_s16le', rate: 48_000, channels: 2, covers: 0 });
  });
});
