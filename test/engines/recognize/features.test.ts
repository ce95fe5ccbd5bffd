import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  addFrames,
  findSpeechModels,
  newSum,
  normalizeCepstra,
  normalizeUtterances,
  withoutNormalization,
} from '../../../src/engines/recognize/pocketsphinx.ts';
import { createWav, openWav } from '../../../src/media/audio/wav.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createWork, ffmpeg, programs, speechClip } from '../workspace.ts';

/** Frames of 13 cepstra that all have this value. */
function frames(count: number, value: number): Float32Array {
  return new Float32Array(13 * count).fill(value);
}

function sumOf(...utterances: Float32Array[]) {
  const sum = newSum();
  for (const utterance of utterances) addFrames(sum, utterance);
  return sum;
}

test('a short utterance is normalized by the mean of all, a long one by its own', () => {
  const short = frames(100, 20);
  const long = frames(5700, 10);
  const shared = sumOf(short, long, frames(100, 0)); // mean 10
  // (100 × 20 + 300 × 10) / 400 = 12.5
  expect(normalizeCepstra(short, shared)[0]).toBeCloseTo(20 - 12.5, 1);
  expect(normalizeCepstra(long, shared)[0]).toBeCloseTo(0, 1);
});

test('a single utterance loses its mean, each cepstrum its own', () => {
  const utterance = Float32Array.from({ length: 26 }, (_, at) => (at < 13 ? at : 2 * at + 3));
  const normalized = normalizeCepstra(utterance, sumOf(utterance));
  for (let at = 0; at < 13; at += 1) {
    expect((normalized[at] ?? 0) + (normalized[at + 13] ?? 0)).toBeCloseTo(0, 4);
    expect(normalized[at + 13]).toBeGreaterThan(normalized[at] ?? 0);
  }
});

test('digital silence does not change the mean', () => {
  const speech = frames(50, 8);
  const silence = frames(50, -20);
  const both = new Float32Array([...speech, ...silence]);
  expect(sumOf(both)).toEqual(sumOf(speech));
  expect([...normalizeCepstra(silence, sumOf(silence))]).toEqual([...silence]);
});

test('turns off the normalization of the model, and keeps its other parameters', () => {
  expect(withoutNormalization('-nfilt 25\n-cmn batch\n-cmninit 41,-5\n')).toBe(
    '-nfilt 25\n\n-cmninit 41,-5\n-cmn none\n',
  );
  expect(withoutNormalization('')).toBe('\n-cmn none\n');
});

test('a soft utterance becomes almost as loud as a loud one, with the front end of PocketSphinx', async () => {
  const [model] = findSpeechModels();
  if (model === undefined) throw new Error('no model of PocketSphinx is installed');
  const folder = makeFolder();
  const whole = join(folder, 'whole.wav');
  ffmpeg('-i', speechClip('0880'), '-ar', '16000', '-ac', '1', '-bitexact', whole);
  const reader = await openWav(whole);
  const samples = await reader.read(0, reader.frames);
  await reader.close();
  for (const [name, gain] of [['loud', 1] as const, ['soft', 0.25] as const]) {
    const wav = await createWav(join(folder, `${name}.wav`), { sampleRate: 16_000, channels: 1 });
    await wav.write(samples.map((sample) => sample * gain));
    await wav.close();
  }
  const parameters = await normalizeUtterances(programs, model, ['loud', 'soft'], createWork(folder));
  expect(readFileSync(parameters, 'utf8')).toContain('-cmn none');
  const energies = ['loud', 'soft'].map((name) => {
    const file = readFileSync(join(folder, `${name}.mfc`));
    expect(file.length).toBe(4 + 4 * file.readInt32LE(0));
    const count = file.readInt32LE(0) / 13;
    expect(count).toBeCloseTo(samples.length / 160, -1); // a frame every 10 ms
    const sum = Array.from({ length: count }, (_, at) => file.readFloatLE(4 + 52 * at));
    return sum.reduce((total, value) => total + value, 0) / count;
  });
  const [loud = 0, soft = 0] = energies;
  // A quarter of the amplitude is 5 × 2 ln 4 less in the first cepstrum of this model. 300 frames of the shared mean keep a part of it.
  const count = samples.length / 160;
  expect(loud - soft).toBeCloseTo((13.86 * 300) / (count + 300), 0);
});
