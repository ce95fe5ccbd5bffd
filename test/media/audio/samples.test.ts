import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partSamples, splitMidSide, toInteger } from '../../../src/media/audio/samples.ts';

test('vocals and background add up to the original, whatever the separated voice is', () => {
  const sample = fc.integer({ min: -32_768, max: 32_767 });
  const number = fc.double({ min: -3, max: 3, noNaN: true });
  fc.assert(
    fc.property(fc.array(fc.tuple(sample, sample, number, number), { minLength: 1 }), (frames) => {
      const original = Int16Array.from(frames.flatMap((frame) => frame.slice(0, 2)));
      const mid = Float32Array.from(frames, ([, , value]) => value);
      const side = Float32Array.from(frames, ([, , , value]) => value);
      const vocals = new Int16Array(original.length);
      const background = new Int16Array(original.length);
      partSamples(mid, side, 0, original, vocals, background);
      expect(original.every((whole, at) => (vocals[at] ?? 0) + (background[at] ?? 0) === whole)).toBe(true);
    }),
  );
});

test('the channels are restored from mid and side', () => {
  const stereo = Int16Array.from([1000, -2000, 32_767, -32_768]);
  const mid = new Float32Array(2);
  const side = new Float32Array(2);
  splitMidSide(stereo, mid, side);
  const vocals = new Int16Array(4);
  partSamples(mid, side, 0, stereo, vocals, new Int16Array(4));
  expect([...vocals]).toEqual([...stereo]);
});

test('samples beyond full scale are limited', () => {
  expect([...toInteger(Float32Array.from([0, 0.5, 2, -2]))]).toEqual([0, 16_384, 32_767, -32_768]);
});
