import { expect, test } from 'vitest';
import { addHiddenSpeech, loudStretches, thirdRate } from '../../../src/engines/separate/hidden-speech.ts';
import { VAD_WINDOW } from '../../../src/media/audio/speech-detector.ts';
import { speechClip } from '../workspace.ts';
import { samplesOf, soundOf } from './sound.ts';

const WINDOW = VAD_WINDOW / 16_000;
const energies = (...levels: readonly (readonly [seconds: number, energy: number])[]) =>
  Float32Array.from(
    levels.flatMap(([seconds, energy]) => Array.from({ length: Math.round(seconds / WINDOW) }, () => energy)),
  );
const speech = [{ start: 3.2, end: 6.4 }];

test('speech may be hidden where music is about as loud as the speech elsewhere', () => {
  const [before, after, ...others] = loudStretches(
    speech,
    energies([3.2, 0.5], [3.2, 1], [3.2, 0.3]),
    WINDOW,
  );
  expect(others).toEqual([]);
  expect(before?.start).toBe(0);
  expect(before?.end).toBeCloseTo(3.05);
  expect(after?.start).toBeCloseTo(6.55);
  expect(after?.end).toBeCloseTo(9.6);
});

test('nothing is hidden under music 7 dB quieter than the speech, in short pauses, or in silence', () => {
  expect(loudStretches(speech, energies([3.2, 0.2], [3.2, 1], [3.2, 0.2]), WINDOW)).toEqual([]);
  const close = [
    { start: 0, end: 3 },
    { start: 4, end: 9.6 },
  ];
  expect(loudStretches(close, energies([9.6, 1]), WINDOW)).toEqual([]);
  expect(loudStretches([], energies([9.6, 1e-7]), WINDOW)).toEqual([]);
});

test('all sound is searched if no speech was detected', () => {
  expect(loudStretches([], energies([9.6, 0.01]), WINDOW)).toHaveLength(1);
});

test('a third of the rate keeps a voice, and removes what would sound like one', async () => {
  const level = async (hertz: number) => {
    const tone = Int16Array.from(
      { length: 9600 },
      (_, at) => 10_000 * Math.sin((2 * Math.PI * hertz * at) / 48_000),
    );
    const third = thirdRate(soundOf(tone, 1));
    expect([third.sampleRate, third.frames]).toEqual([16_000, 3200]);
    const samples = await third.read(400, 2000);
    return (
      Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length) /
      (10_000 / Math.SQRT2)
    );
  };
  expect(await level(1000)).toBeCloseTo(1, 2);
  expect(await level(12_000)).toBeLessThan(0.01);
});

test('speech in denoised sound is added, and joined with detected speech beside it', async () => {
  const stereo = samplesOf(speechClip('0880'));
  const mono = Int16Array.from({ length: stereo.length / 2 }, (_, at) => stereo[2 * at] ?? 0);
  const loud = new Float32Array(Math.ceil(mono.length / 3 / VAD_WINDOW)).fill(0.01);
  const [hidden, ...others] = await addHiddenSpeech(soundOf(mono, 1), { segments: [], energies: loud });
  expect(others).toEqual([]);
  expect((hidden?.end ?? 0) - (hidden?.start ?? 0)).toBeGreaterThan(1.5);
  const known = [{ start: 0, end: 0.2 }];
  expect(await addHiddenSpeech(soundOf(mono, 1), { segments: known, energies: loud.fill(1e-9) })).toEqual(
    known,
  );
});
