import { expect, test } from 'vitest';
import {
  createSurveyor,
  maskingWeights,
  type Survey,
  speechEnergy,
} from '../../../src/engines/separate/background.ts';
import type { WavReader } from '../../../src/media/audio/wav.ts';

const WINDOW = 0.032;
/** Energies of ten seconds: speech of energy 1 from 3 to 7 s over a background of the given level. */
function energies(backgroundDecibels: number): Float32Array {
  const background = 10 ** (backgroundDecibels / 10);
  return Float32Array.from({ length: Math.round(10 / WINDOW) }, (_, at) => {
    const time = at * WINDOW;
    return background + (time >= 3 && time <= 7 ? 1 : 0);
  });
}
const speech = [{ start: 3, end: 7 }];

test.each([
  [-5, 1],
  [-13.05, 0.99],
  [-15, 0.5],
  [-17.05, 0],
  [-40, 0],
])('a background of %d dB under the speech is masked to %d', (decibels, weight) => {
  expect(maskingWeights(speech, energies(decibels), WINDOW)[0]).toBeCloseTo(weight, 1);
});

test('each segment is judged by the pauses around it', () => {
  const loud = energies(-8);
  const quiet = energies(-40);
  const both = new Float32Array(loud.length * 2);
  both.set(loud);
  both.set(quiet, loud.length);
  const weights = maskingWeights([...speech, { start: 13, end: 17 }], both, WINDOW);
  expect(weights[0]).toBe(1);
  expect(weights[1]).toBeLessThan(1);
});

test('speech without pauses is judged by its quietest parts', () => {
  const steady = new Float32Array(100).fill(1);
  const broken = Float32Array.from({ length: 100 }, (_, at) => (at % 5 === 0 ? 1e-6 : 1));
  const whole = [{ start: 0, end: 3.2 }];
  expect(maskingWeights(whole, steady, WINDOW)).toEqual([1]);
  expect(maskingWeights(whole, broken, WINDOW)).toEqual([0]);
});

test('the energy of speech excludes the pauses', () => {
  expect(speechEnergy(speech, energies(-60), WINDOW)).toBeGreaterThan(0.9);
  expect(speechEnergy([], energies(-60), WINDOW)).toBe(0);
});

const RATE = 48_000;
const SECONDS = 6;
const SPEECH = { start: 2, end: 4 };

/** Sound in memory, from a function of time and channel with full scale 1. */
function soundOf(sample: (time: number, channel: number) => number): WavReader {
  const value = (index: number, channel: number) =>
    index < 0 || index >= SECONDS * RATE ? 0 : Math.round(sample(index / RATE, channel) * 32_767);
  return {
    channels: 2,
    sampleRate: RATE,
    frames: SECONDS * RATE,
    read: async (position, count) =>
      Int16Array.from({ length: 2 * count }, (_, at) => value(position + (at >> 1), at % 2)),
    close: async () => {},
  };
}

const isSpeech = (time: number) => time >= SPEECH.start && time <= SPEECH.end;
/** Syllables of 0.2 s with breaks of 0.1 s. */
const voice = (time: number) =>
  isSpeech(time) && (time - SPEECH.start) % 0.3 < 0.2 ? 0.4 * Math.sin(2 * Math.PI * 300 * time) : 0;
const music = (time: number, channel: number) =>
  0.04 * Math.sin(2 * Math.PI * (channel === 0 ? 750 : 1125) * time);
const MUSIC_BIN = 32; // 750 Hz

const survey = (sample: (time: number, channel: number) => number): Promise<Survey> =>
  createSurveyor(soundOf(sample), [SPEECH])(0);

test('music that continues under the speech is expected there as loud as in the pauses', async () => {
  const { before, after } = await survey((time, channel) => voice(time) + music(time, channel));
  const level = before?.mid[MUSIC_BIN] ?? 0;
  expect(level).toBeGreaterThan(1);
  expect((after?.mid[MUSIC_BIN] ?? 0) / level).toBeCloseTo(1, 1);
  expect(before?.time).toBeCloseTo(1.85, 1);
  expect(after?.time).toBeCloseTo(4.15, 1);
});

test('music that is lowered by 12 dB under the speech is expected that much lower', async () => {
  const steady = await survey((time, channel) => voice(time) + music(time, channel));
  const lowered = await survey(
    (time, channel) => voice(time) + (isSpeech(time) ? 0.25 : 1) * music(time, channel),
  );
  const ratio = (lowered.before?.mid[MUSIC_BIN] ?? 0) / (steady.before?.mid[MUSIC_BIN] ?? 1);
  expect(ratio).toBeCloseTo(0.25, 1);
});

test('a voice that is the same in both channels is distinguished from one at a side', async () => {
  const middle = await survey((time, channel) => voice(time) + music(time, channel));
  const left = await survey((time, channel) => (channel === 0 ? voice(time) : 0) + music(time, channel));
  expect(middle.centred).toBe(true);
  expect(left.centred).toBe(false);
});

test('nothing is known about speech without any pause', async () => {
  const throughout = [{ start: 0.1, end: SECONDS - 0.1 }];
  const { before, after } = await createSurveyor(soundOf(voice), throughout)(0);
  expect({ before, after }).toEqual({ before: null, after: null });
});
