import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createWav, openWav } from '../../../src/media/audio/wav.ts';
import { appendPieces, carryOver, smoothSeam } from '../../../src/media/join/join-sound.ts';
import { makeFolder } from '../../support/make-folder.ts';

const FORMAT = { sampleRate: 48_000, channels: 1 };
/** Length of each piece, without the samples after its border. */
const OWN = 10_000;

/** Joins a piece of the level 1000, with so many samples after its border, and one of the level 2000. */
async function joinLevels(behind: number): Promise<Int16Array> {
  const folder = makeFolder();
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
  await appendPieces(pieces, out);
  await out.close();
  const wav = await openWav(path);
  const samples = (await wav.read(0, wav.frames)).slice();
  await wav.close();
  expect(samples).toHaveLength(2 * OWN);
  return samples;
}

test('a piece continues over the next for two frames of AAC if its sound extends beyond its border', async () => {
  const samples = await joinLevels(4096);
  expect(new Set(samples.subarray(0, OWN + 1024))).toEqual(new Set([1000]));
  expect(samples[OWN + 1536]).toBeCloseTo(1500, -1);
  expect(new Set(samples.subarray(OWN + 2048))).toEqual(new Set([2000]));
});

test('the padding that an encoder adds after the border is not treated as sound: the step is smoothed in 5 ms', async () => {
  const samples = await joinLevels(2047);
  expect([samples[OWN - 240], samples[OWN + 240]]).toEqual([1000, 2000]);
  expect(samples[OWN]).toBeCloseTo(1500, -1);
});

const wave = (from: number, count: number, offset = 0) =>
  Int16Array.from({ length: count }, (_, at) => 3000 * Math.sin((from + at) / 20) + offset);

const largestStep = (samples: Int16Array) =>
  samples.slice(1).reduce((most, sample, at) => Math.max(most, Math.abs(sample - (samples[at] ?? 0))), 0);

test('a continuous wave is not changed', () => {
  const [tail, head] = [wave(0, 240), wave(240, 240)];
  expect(smoothSeam(tail, head, 1)).toBe(false);
  expect([tail, head]).toEqual([wave(0, 240), wave(240, 240)]);
});

test('a step is smoothed: no larger one remains than the wave itself has, and the far ends are unchanged', () => {
  const [tail, head] = [wave(0, 240), wave(240, 240, 4000)];
  expect(smoothSeam(tail, head, 1)).toBe(true);
  expect(largestStep(Int16Array.from([...tail, ...head]))).toBeLessThan(2 * largestStep(wave(0, 480)));
  expect(Math.abs((tail[0] ?? 0) - (wave(0, 1)[0] ?? 0))).toBeLessThan(2);
});

test('each channel is processed separately', () => {
  const pair = (left: Int16Array, right: Int16Array) =>
    Int16Array.from([...left].flatMap((l, at) => [l, right[at] ?? 0]));
  const tail = pair(wave(0, 240), wave(0, 240));
  const head = pair(wave(240, 240), wave(240, 240, 4000));
  expect(smoothSeam(tail, head, 2)).toBe(true);
  expect(head.filter((_, at) => at % 2 === 0)).toEqual(wave(240, 240));
});

test('the noise of a room, whose samples jump by themselves, is unchanged at every seam', () => {
  let seed = 1;
  const noise = () =>
    Int16Array.from({ length: 240 }, () => {
      seed = (seed * 48_271) % 2_147_483_647; // the generator of Park and Miller, so that a failure can be repeated
      return Math.round((seed / 2_147_483_647 - 0.5) * 400);
    });
  const bent = Array.from({ length: 200 }, () => smoothSeam(noise(), noise(), 1)).filter(
    (changed) => changed,
  );
  expect(bent).toHaveLength(0);
});

describe('sound that is carried over the beginning of the next part', () => {
  test('is heard alone at first, and fades into the next part', () => {
    const head = new Int16Array(200).fill(1000);
    carryOver(new Int16Array(100).fill(3000), head, 1, 0.5);
    expect([...head.subarray(0, 50)]).toEqual(new Array(50).fill(3000));
    expect(head[74]).toBeCloseTo(2020, -1);
    expect(head[99]).toBeLessThan(1030);
    expect([...head.subarray(100)]).toEqual(new Array(100).fill(1000));
  });

  test('does not change a beginning that has the same sound, in both channels', () => {
    const same = Int16Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? 5 * at : -3 * at));
    const head = same.slice();
    carryOver(same.slice(0, 160), head, 2, 0.5);
    expect(head).toEqual(same);
  });

  test('may be empty', () => {
    const head = wave(0, 100);
    carryOver(new Int16Array(0), head, 1, 0.5);
    expect(head).toEqual(wave(0, 100));
  });
});
