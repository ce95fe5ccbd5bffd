import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createWav, openWav } from '../../../src/media/audio/wav.ts';
import { mixTracks } from '../../../src/media/join/mix-sound.ts';
import { truePeak } from '../../support/audio.ts';
import { makeFolder } from '../../support/make-folder.ts';

/** Just below -1 dB. */
const HIGHEST = 28_836;

interface Sound {
  readonly from: number;
  readonly samples: readonly number[];
}

/** Windows of ten frames. */
const FORMAT = { sampleRate: 1000, channels: 1 };

/** Returns the path of the mix. */
async function mixIn(folder: string, sounds: readonly Sound[], endFrames: number, format: typeof FORMAT) {
  const tracks = await Promise.all(
    sounds.map(async ({ from, samples }, at) => {
      const path = join(folder, `${at}.wav`);
      const wav = await createWav(path, format);
      await wav.write(Int16Array.from(samples));
      await wav.close();
      return { from, path };
    }),
  );
  const path = join(folder, 'mixed.wav');
  const out = await createWav(path, format);
  await mixTracks(tracks, endFrames, out);
  await out.close();
  return path;
}

async function mix(sounds: readonly Sound[], endFrames: number, format = FORMAT): Promise<Int16Array> {
  const wav = await openWav(await mixIn(makeFolder(), sounds, endFrames, format));
  const samples = (await wav.read(0, wav.frames)).slice();
  await wav.close();
  return samples;
}

const anySound = fc.record({
  from: fc.nat(2500),
  samples: fc.array(fc.integer({ min: -32_768, max: 32_767 }), { minLength: 1, maxLength: 60 }),
});

test('a mix is the exact sum, except near sums that are too loud, which are lowered and never clipped or turned round', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anySound, { minLength: 1, maxLength: 4 }), async (sounds) => {
      const mixed = await mix(sounds, 100);
      const length = Math.max(100, ...sounds.map(({ from, samples }) => from + samples.length));
      expect(mixed).toHaveLength(length);
      const sums = Array.from({ length }, (_, at) =>
        sounds.reduce((sum, { from, samples }) => sum + (samples[at - from] ?? 0), 0),
      );
      // Its peak may lie between two samples, up to 3 dB above them.
      const isTooLoud = (sum = 0) => Math.abs(sum) > HIGHEST / Math.SQRT2;
      for (const [at, sum] of sums.entries()) {
        const sample = mixed[at] ?? 0;
        const isNear = sums.slice(Math.max(0, at - 20), at + 20).some(isTooLoud);
        if (!isNear) expect(sample).toBe(sum);
        else expect(sample * sum).toBeGreaterThanOrEqual(0);
        expect(Math.abs(sample)).toBeLessThanOrEqual(Math.min(HIGHEST, Math.abs(sum)));
      }
    }),
    { numRuns: 10 },
  );
});

test('the voice of one speaker is lowered only while another one makes the sum too loud', async () => {
  const mixed = await mix(
    [
      { from: 0, samples: new Array(200).fill(20_000) },
      { from: 100, samples: new Array(10).fill(20_000) },
    ],
    200,
  );
  expect(mixed[105]).toBeLessThanOrEqual(HIGHEST);
  expect(mixed[105]).toBeGreaterThan(25_000);
  expect(mixed[95]).toBeLessThan(20_000);
  expect([mixed[89], mixed[121]]).toEqual([20_000, 20_000]);
});

test('two voices at one time have no peak above -1 dBTP, not even between the samples', async () => {
  // All samples lie halfway between the zeros and the peaks, which are 3 dB higher.
  const samples = Array.from({ length: 48_000 }, (_, at) => {
    const fade = Math.min(1, at / 4_800, (48_000 - at) / 4_800);
    return Math.round(32_767 * 0.45 * fade * Math.sin((Math.PI * at) / 2 + Math.PI / 4));
  });
  const voice = { from: 0, samples };
  const path = await mixIn(makeFolder(), [voice, voice], 48_000, { sampleRate: 48_000, channels: 1 });
  expect(truePeak(path)).toBeLessThanOrEqual(-1);
});

test('a track that lasts more than a minute after the end is cut there', async () => {
  const mixed = await mix([{ from: 0, samples: new Array(70_000).fill(5) }], 1000);
  expect(mixed).toHaveLength(61_000);
});

test('channels stay apart', async () => {
  const stereo = { sampleRate: 1000, channels: 2 };
  const sounds = [
    { from: 0, samples: [1, -1, 2, -2] },
    { from: 1, samples: [10, -10] },
  ];
  expect([...(await mix(sounds, 2, stereo))]).toEqual([1, -1, 12, -12]);
});
