import { join } from 'node:path';
import { expect, test } from 'vitest';
import { medianPitch } from '../../../src/media/audio/pitch.ts';
import { createWav, wavSeconds } from '../../../src/media/audio/wav.ts';
import { createRandom } from '../../client/simulation/random.ts';
import { makeFolder } from '../../support/make-folder.ts';

const RATE = 16_000;

/** Sound of some seconds, from a function of time with full scale 1. */
const sound = (seconds: number, sample: (time: number) => number) =>
  Array.from({ length: seconds * RATE }, (_, at) => sample(at / RATE));

/** One period after the other of a sharp sound, as the vocal folds make it, in Hz. */
const folds = (pitch: number, seconds: number, gain = 1) =>
  sound(seconds, (time) => gain * (Math.exp(-40 * ((time * pitch) % 1)) - 0.1));

function noise(seconds: number, gain = 1): number[] {
  const random = createRandom(1);
  return sound(seconds, () => gain * (2 * random() - 1));
}

async function write(samples: readonly number[]): Promise<string> {
  const path = join(makeFolder(), 'voice.wav');
  const wav = await createWav(path, { sampleRate: RATE, channels: 1 });
  await wav.write(Int16Array.from(samples, (sample) => Math.round(sample * 32_767)));
  await wav.close();
  return path;
}

const { signal } = new AbortController();
const measure = async (path: string) =>
  medianPitch(path, [{ start: 0, end: await wavSeconds(path) }], signal);
const pitchOf = async (...parts: readonly (readonly number[])[]) => measure(await write(parts.flat()));

test.each([75, 300])('a voice of %i Hz has this pitch, under noise too', async (pitch) => {
  const hiss = noise(3, 0.05);
  const voice = folds(pitch, 3, 0.5).map((sample, at) => sample + (hiss[at] ?? 0));
  expect(Math.abs(((await pitchOf(voice)) ?? 0) - pitch)).toBeLessThan(0.03 * pitch);
});

test('the pitch of several speakers is that of the one who speaks most', async () => {
  expect(await pitchOf(folds(220, 1), folds(110, 3), folds(220, 1))).toBeCloseTo(110, -1);
  expect(await pitchOf(folds(110, 1), folds(220, 3))).toBeCloseTo(220, -1);
});

test('soft sound between the words does not count', async () => {
  expect(await pitchOf(folds(220, 2), folds(80, 3, 0.05))).toBeCloseTo(220, -1);
});

test('silence, noise and a short sound have no pitch', async () => {
  expect(await pitchOf(sound(3, () => 0))).toBeNull();
  expect(await pitchOf(noise(3))).toBeNull();
  expect(await pitchOf(folds(110, 0.5))).toBeNull();
});

test('only the times of speech count', async () => {
  const path = await write([...folds(110, 3), ...folds(220, 3)]);
  expect(await medianPitch(path, [{ start: 3, end: 6 }], signal)).toBeCloseTo(220, -1);
  expect(await medianPitch(path, [], signal)).toBeNull();
});
