import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { divideFrames, firstFrame, splitStems } from '../../../src/engines/separate/stems.ts';
import { createWav, openWav, openWavPart, reserveWav } from '../../../src/media/audio/wav.ts';
import { makeFolder } from '../../support/make-folder.ts';

const STEREO = { sampleRate: 48_000, channels: 2 } as const;
const MONO = { sampleRate: 48_000, channels: 1 } as const;
const FRAMES = 57_000;

test('parts follow one another, and cover all frames', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000 }), fc.integer({ min: 1, max: 8 }), (frames, count) => {
      const parts = divideFrames(frames, count);
      expect(parts).toHaveLength(count);
      expect(parts[0]?.first).toBe(0);
      for (const [at, part] of parts.entries()) expect(part.end).toBe(parts[at + 1]?.first ?? part.end);
      const last = parts.at(-1);
      expect(last && firstFrame({ first: last.end, end: last.end })).toBeGreaterThanOrEqual(frames);
    }),
  );
});

/** Writes noise that is always the same: louder on the left, and with a pause. */
async function writeNoise(path: string, format: typeof STEREO | typeof MONO): Promise<void> {
  const file = await createWav(path, format);
  let state = 1;
  const samples = Int16Array.from({ length: FRAMES * format.channels }, (_, at) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const isPause = at > 20_000 * format.channels && at < 30_000 * format.channels;
    return ((state >> 16) % 4_000) / (isPause ? 50 : at % 2 === 0 ? 1 : 2);
  });
  await file.write(samples);
  await file.close();
}

test('a file that is split in three parts has the same stems as in one, sample for sample', async () => {
  const folder = makeFolder();
  await writeNoise(join(folder, 'mix.wav'), STEREO);
  await writeNoise(join(folder, 'denoised.wav'), MONO);
  const segments = [
    { start: 0.2, end: 0.4 },
    { start: 0.65, end: 1 },
  ];
  const split = async (count: number) => {
    const stems = { vocals: STEREO, background: STEREO, voice: MONO } as const;
    const path = (name: string) => join(folder, `${name}-${count}.wav`);
    for (const [name, format] of Object.entries(stems)) await reserveWav(path(name), format, FRAMES);
    for (const part of divideFrames(FRAMES, count).toReversed()) {
      const mix = await openWav(join(folder, 'mix.wav'));
      const denoised = await openWav(join(folder, 'denoised.wav'));
      const from = firstFrame(part);
      const vocals = await openWavPart(path('vocals'), STEREO, from);
      const background = await openWavPart(path('background'), STEREO, from);
      const voice = await openWavPart(path('voice'), MONO, from);
      const input = {
        mix,
        source: mix,
        denoised,
        segments,
        weights: [0.8, 0.4],
        directions: [0, 0.3],
        apart: [null, null],
      };
      await splitStems(input, { vocals, background, voice }, part, () => {});
      await Promise.all([mix, denoised, vocals, background, voice].map((file) => file.close()));
    }
    const samples: Int16Array[] = [];
    for (const name of Object.keys(stems)) {
      const file = await openWav(path(name));
      expect(file.frames).toBe(FRAMES);
      samples.push((await file.read(0, FRAMES)).slice());
      await file.close();
    }
    return samples;
  };
  const whole = await split(1);
  expect(whole.every((samples) => samples.some((sample) => sample !== 0))).toBe(true);
  expect(await split(3)).toEqual(whole);
});
