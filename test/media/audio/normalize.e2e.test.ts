import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeAsLoud } from '../../../src/media/audio/normalize.ts';
import { createWav } from '../../../src/media/audio/wav.ts';
import { createWork, ffmpeg, programs, speechClip } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { measureSound } from '../../support/sounds.ts';

const RATE = 48_000;

test('a loudness is reached by a quiet voice with silence, with true peaks below -1 dBTP', async () => {
  const [folder, target] = [makeFolder(), -14];
  const file = join(folder, 'sound.wav');
  const quiet = 'atrim=end=2,volume=-15dB,apad=pad_dur=1';
  ffmpeg('-i', speechClip('0880'), '-af', quiet, '-ar', String(RATE), file);
  const encode = async (filters: readonly string[]) => {
    // Coders raise peaks.
    const path = join(folder, 'a.mp3');
    ffmpeg('-i', file, '-af', filters.join(','), '-ar', String(RATE), path);
    return path;
  };
  const { path, notes } = await encodeAsLoud(programs, { file, target }, encode, createWork(folder));
  const { lufs, peak } = measureSound(path);
  expect(notes).toEqual([]);
  expect(Math.abs(lufs - target)).toBeLessThanOrEqual(0.5);
  expect(peak).toBeLessThanOrEqual(-1);
});

test.each([
  ['silence', 0, /^the sound is silent; its loudness is unchanged$/],
  ['a faint tone', 20, /^the sound has -6\d\.\d LUFS, so nobody speaks in it; its loudness is unchanged$/],
])('%s is not made loud, which is said', async (_, level, note) => {
  const folder = makeFolder();
  const file = join(folder, 'sound.wav');
  const wav = await createWav(file, { sampleRate: RATE, channels: 1 });
  await wav.write(Int16Array.from({ length: RATE }, (_, at) => level * Math.sin(at / 8)));
  await wav.close();
  const encode = async (filters: readonly string[]) => `copied with ${filters.length} filters`;
  const made = await encodeAsLoud(programs, { file, target: -14 }, encode, createWork(folder));
  expect(made).toEqual({ path: 'copied with 0 filters', notes: [expect.stringMatching(note)] });
});
