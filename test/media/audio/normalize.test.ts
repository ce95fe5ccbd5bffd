import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeAsLoud } from '../../../src/media/audio/normalize.ts';
import { createWork, ffmpeg, programs, speechClip } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { measureSound } from '../../support/sounds.ts';

const SPEECH = ['-i', speechClip('0880')];

/** Encodes a sound with this loudness. */
async function encode(source: readonly string[], target: number, name: string) {
  const folder = makeFolder();
  const file = join(folder, 'sound.wav');
  ffmpeg(...source, '-ar', '48000', file);
  const write = async (filters: readonly string[]) => {
    const path = join(folder, name);
    ffmpeg('-i', file, ...(filters.length > 0 ? ['-af', filters.join(',')] : []), '-ar', '48000', path);
    return path;
  };
  return encodeAsLoud(programs, { file, target }, write, createWork(folder));
}

test('a loudness is reached by a quiet voice with silence, with true peaks below -1 dBTP', async () => {
  const target = -14;
  const quiet = ['-af', 'atrim=end=2,volume=-15dB,apad=pad_dur=2'];
  // Coders raise peaks.
  const { path, notes } = await encode([...SPEECH, ...quiet], target, 'a.mp3');
  const { lufs, peak } = measureSound(path);
  expect(notes).toEqual([]);
  expect(Math.abs(lufs - target)).toBeLessThanOrEqual(0.5);
  expect(peak).toBeLessThanOrEqual(-1);
});

test('silence and faint noise are not made loud, which is said', async () => {
  const silent = await encode(['-f', 'lavfi', '-i', 'anullsrc=d=1'], -14, 'a.wav');
  expect(silent.notes).toEqual(['the sound is silent; its loudness is unchanged']);
  const { notes } = await encode(['-f', 'lavfi', '-i', 'anoisesrc=a=0.001:d=1:seed=1'], -14, 'a.wav');
  expect(notes).toEqual([
    expect.stringMatching(/^the sound has -6\d\.\d LUFS, so nobody speaks in it; its loudness is unchanged$/),
  ]);
});
