import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWav, openWav } from '../../../src/media/audio/wav.ts';
import { joinWavs } from '../../../src/media/join/join-sound.ts';
import { createWork, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

const FORMAT = { sampleRate: 16_000, channels: 1 };

async function writeWav(path: string, samples: number[]): Promise<string> {
  const wav = await createWav(path, FORMAT);
  await wav.write(Int16Array.from(samples));
  await wav.close();
  return path;
}

async function joinTwo(lengths: [number, number], manner: 'cut' | 'mix'): Promise<Int16Array> {
  const folder = makeFolder();
  const ramp = (length: number, base: number) => Array.from({ length }, (_, at) => base + (at % 100));
  const results = [
    { path: await writeWav(join(folder, 'a.wav'), ramp(lengths[0], 0)), startSeconds: 0 },
    { path: await writeWav(join(folder, 'b.wav'), ramp(lengths[1], 50)), startSeconds: 1 },
  ];
  const task = { endSeconds: 2, manner, name: 'joined.wav' };
  const wav = await openWav(await joinWavs(programs, results, task, createWork(folder)));
  const samples = (await wav.read(0, wav.frames)).slice();
  await wav.close();
  expect(wav).toMatchObject(FORMAT);
  return samples;
}

test('parts are placed at their sample; gaps are silent, and excess is cut', async () => {
  const samples = await joinTwo([15_000, 17_000], 'cut');
  expect(samples).toHaveLength(32_000);
  expect([samples[14_999], samples[15_000], samples[16_300], samples[31_999]]).toEqual([99, 0, 50, 149]);
});

test('a long dub continues after the seam', async () => {
  const samples = await joinTwo([16_010, 16_005], 'mix');
  expect(samples).toHaveLength(32_005);
  expect([samples[16_000], samples[16_009], samples[16_010]]).toEqual([50, 59 + 9, 60]);
});
