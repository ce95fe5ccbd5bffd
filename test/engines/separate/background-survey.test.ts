import { expect, test } from 'vitest';
import type { WavReader } from '../../../src/engines/media/wav-file.ts';
import { createSurveyor, type Survey } from '../../../src/engines/separate/background-survey.ts';

const RATE = 48_000;
const SECONDS = 6;
const SPEECH = { start: 2, end: 4 };

/** Sound that lies in memory, from a function of time and channel with full scale 1. */
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

test('music that goes on under the speech is expected there as loud as in the pauses', async () => {
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

test('a voice that is the same in both channels is told from one that lies to a side', async () => {
  const middle = await survey((time, channel) => voice(time) + music(time, channel));
  const left = await survey((time, channel) => (channel === 0 ? voice(time) : 0) + music(time, channel));
  expect(middle.centred).toBe(true);
  expect(left.centred).toBe(false);
});

test('of speech without any pause nothing is known', async () => {
  const throughout = [{ start: 0.1, end: SECONDS - 0.1 }];
  const { before, after } = await createSurveyor(soundOf(voice), throughout)(0);
  expect({ before, after }).toEqual({ before: null, after: null });
});
