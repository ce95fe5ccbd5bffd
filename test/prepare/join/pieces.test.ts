import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWav, openWav } from '../../../src/engines/media/wav.ts';
import { appendPieces } from '../../../src/prepare/join/pieces.ts';
import { temporaryFolder } from '../../engines/workspace.ts';

const FORMAT = { sampleRate: 48_000, channels: 1 };
/** Length of each piece, apart from what lies behind its border. */
const OWN = 10_000;

/** Joins a piece of the level 1000, with so many samples behind its border, and one of the level 2000. */
async function joinLevels(behind: number): Promise<Int16Array> {
  const folder = temporaryFolder();
  const piece = async (name: string, level: number, length: number) => {
    const path = join(folder, name);
    const wav = await createWav(path, FORMAT);
    await wav.write(new Int16Array(length).fill(level));
    await wav.close();
    return { path, frames: OWN };
  };
  const pieces = [await piece('a.wav', 1000, OWN + behind), await piece('b.wav', 2000, OWN)];
  const path = join(folder, 'joined.wav');
  const out = await createWav(path, FORMAT);
  await appendPieces(pieces, 'cut', out);
  await out.close();
  const wav = await openWav(path);
  const samples = (await wav.read(0, wav.frames)).slice();
  await wav.close();
  expect(samples).toHaveLength(2 * OWN);
  return samples;
}

test('a piece sounds on over the next for two frames of AAC where its sound goes on behind its border', async () => {
  const samples = await joinLevels(4096);
  expect(new Set(samples.subarray(0, OWN + 1024))).toEqual(new Set([1000]));
  expect(samples[OWN + 1536]).toBeCloseTo(1500, -1);
  expect(new Set(samples.subarray(OWN + 2048))).toEqual(new Set([2000]));
});

test('the padding that an encoder leaves behind the border is not taken for sound: the step is bent in 5 ms', async () => {
  const samples = await joinLevels(2047);
  expect([samples[OWN - 240], samples[OWN + 240]]).toEqual([1000, 2000]);
  expect(samples[OWN]).toBeCloseTo(1500, -1);
});
