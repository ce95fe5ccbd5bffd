/** Who speaks when, with generated models: a low tone is one speaker, a high tone another. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSherpaDiarizer } from '../../../../src/engines/backends/sherpa/diarize.ts';
import { createWav } from '../../../../src/media/audio/wav.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { createParts } from '../user-program.ts';
import { writeTinyDiarization } from './tiny-models.ts';

const signal = new AbortController().signal;
const RATE = 16_000;

/** Writes tones, each of some seconds and hertz. */
async function writeTones(folder: string, tones: readonly (readonly [number, number])[]): Promise<string> {
  const samples = tones.flatMap(([seconds, hertz]) =>
    Array.from({ length: seconds * RATE }, (_, at) =>
      Math.round(16_000 * Math.sin((2 * Math.PI * hertz * at) / RATE)),
    ),
  );
  const path = join(folder, 'voice.wav');
  const file = await createWav(path, { sampleRate: RATE, channels: 1 });
  await file.write(Int16Array.from(samples));
  await file.close();
  return path;
}

async function create(folder: string) {
  const diarizer = await createSherpaDiarizer({ type: 'sherpa', folder }, createParts());
  onTestFinished(() => diarizer.close());
  return diarizer;
}

test('two speakers are told apart, and one who speaks again is recognized', async () => {
  const folder = makeFolder();
  const diarizer = await create(writeTinyDiarization(join(folder, 'tiny')));
  const voice = await writeTones(folder, [
    [3, 200],
    [1, 0],
    [3, 2_000],
    [1, 0],
    [2, 200],
  ]);
  const turns = await diarizer.diarize(voice, { signal, folder });
  // Node itself takes more than this.
  expect(diarizer.peakBytes?.()).toBeGreaterThan(20_000_000);
  expect(turns.map(({ speaker }) => speaker)).toEqual([0, 1, 0]);
  expect(turns.map(({ start, end }) => [Math.round(start), Math.round(end)])).toEqual([
    [0, 3],
    [4, 7],
    [8, 10],
  ]);
});

test('nobody speaks in silence', async () => {
  const folder = makeFolder();
  const diarizer = await create(writeTinyDiarization(join(folder, 'tiny')));
  const voice = await writeTones(folder, [[12, 0]]);
  expect(await diarizer.diarize(voice, { signal, folder })).toEqual([]);
});

test('a folder without one of the two models is refused', async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'segmentation.onnx'), '');
  await expect(create(folder)).rejects.toThrow('embedding.onnx');
});
