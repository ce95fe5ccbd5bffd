import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeAsLoud } from '../../../src/media/audio/normalize.ts';
import { createWork, ffmpeg, programs, speechClip } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { measureSound } from '../../support/sounds.ts';

const SPEECH = ['-i', speechClip('0880')];

/** Encodes a sound with this loudness, as the last of the words names it. */
async function encode(source: readonly string[], target: number, coding: readonly string[]) {
  const folder = makeFolder();
  const file = join(folder, 'sound.wav');
  ffmpeg(...source, '-ar', '48000', file);
  const write = async (filters: readonly string[]) => {
    const path = join(folder, coding.at(-1) ?? '');
    ffmpeg(
      '-i',
      file,
      ...(filters.length > 0 ? ['-af', filters.join(',')] : []),
      '-ar',
      '48000',
      ...coding.slice(0, -1),
      path,
    );
    return path;
  };
  return encodeAsLoud(programs, { file, target }, write, createWork(folder));
}

// A service asks for these; coders raise peaks.
test.each([
  [
    'a quiet voice with long silence',
    [...SPEECH, '-af', 'atrim=end=3,volume=-15dB,apad=pad_dur=6'],
    -14,
    ['a.mp3'],
  ],
  [
    'loud noise',
    ['-f', 'lavfi', '-i', 'anoisesrc=a=0.9:c=pink:d=2:seed=1'],
    -16,
    ['-c:a', 'libopus', 'a.opus'],
  ],
])('a loudness is reached by %s, with true peaks below -1 dBTP', async (_, source, target, coding) => {
  const { path, notes } = await encode(source, target, coding);
  const { lufs, peak } = measureSound(path);
  expect(notes).toEqual([]);
  expect(Math.abs(lufs - target)).toBeLessThanOrEqual(0.5);
  expect(peak).toBeLessThanOrEqual(-1);
});

test('faint noise is not made loud, which is said', async () => {
  const { notes } = await encode(['-f', 'lavfi', '-i', 'anoisesrc=a=0.001:d=1:seed=1'], -14, ['a.wav']);
  expect(notes).toEqual([
    expect.stringMatching(/^the sound has -6\d\.\d LUFS, so nobody speaks in it; its loudness is unchanged$/),
  ]);
});
