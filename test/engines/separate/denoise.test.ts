import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Denoised,
  denoiseSound,
  divideToDenoise,
  joinDenoised,
} from '../../../src/engines/separate/denoise.ts';
import type { Part } from '../../../src/engines/separate/stems.ts';
import { speechClip } from '../workspace.ts';
import { recorder, samplesOf, soundOf } from './sound.ts';

const SECONDS = 1.5;

/** How similar two sounds are, -1 to 1, if the second is moved by a number of frames. */
function likeness(one: readonly number[], other: readonly number[], shift: number): number {
  let [common, first, second] = [0, 0, 0];
  for (let at = 2000; at < one.length - 2000; at += 1) {
    const [a, b] = [one[at] ?? 0, other[at + shift] ?? 0];
    common += a * b;
    first += a * a;
    second += b * b;
  }
  return common / Math.sqrt(first * second);
}

/** Recorded speech with a gain for each channel, and tones on both sides. */
function speechAt(left: number, right: number): Int16Array {
  const speech = samplesOf(speechClip('0880')).subarray(2 * 24_000, 2 * (24_000 + SECONDS * 48_000));
  return speech.map((value, at) => {
    const time = (at >> 1) / 48_000;
    return (
      value * (at % 2 === 0 ? left : right) + 600 * Math.sin(2 * Math.PI * (at % 2 === 0 ? 440 : 660) * time)
    );
  });
}

/** Denoises stereo sound, in the given parts. */
async function denoiseAll(
  samples: Int16Array,
  output = recorder(1),
  parts: readonly Part[] = divideToDenoise(samples.length / 2),
): Promise<Denoised> {
  const measured = [];
  for (const part of parts) measured.push(await denoiseSound(soundOf(samples, 2), output, part, () => {}));
  return joinDenoised(measured);
}

const WHOLE = { start: 0, end: SECONDS };

describe('removing noise from speech in the centre', () => {
  const output = recorder(1);
  let result: Denoised;
  let middle: number[] = [];
  beforeAll(async () => {
    const samples = speechAt(1, 1);
    middle = Array.from(
      { length: samples.length / 2 },
      (_, at) => ((samples[2 * at] ?? 0) + (samples[2 * at + 1] ?? 0)) / 2,
    );
    result = await denoiseAll(samples, output);
  });

  test('returns sound of the same length, at the same time as the speech', () => {
    expect(output.heard).toHaveLength(middle.length);
    const shifts = [-960, -480, -240, -48, -5, 0, 5, 48, 240, 480, 960];
    const values = shifts.map((shift) => likeness(middle, output.heard, shift));
    expect(shifts[values.indexOf(Math.max(...values))]).toBe(0);
    expect(Math.max(...values)).toBeGreaterThan(0.8);
  });

  test('finds the voice in the centre', () => {
    expect(result.direction(WHOLE)).toBe(0);
  });
});

test.each([
  ['right', 0, 1, -Math.PI / 4],
  ['half left', 1, 0.4, Math.atan(0.6 / 1.4)],
])('a voice on the %s is found there', async (_, left, right, angle) => {
  const { direction } = await denoiseAll(speechAt(left, right));
  expect(Math.abs(direction(WHOLE) - angle)).toBeLessThan(0.12);
});

test('silence has no direction', async () => {
  const { direction, clicks } = await denoiseAll(new Int16Array(20_000));
  expect(direction(WHOLE)).toBe(0);
  expect(clicks).toEqual([]);
});

test('parts of at least 20 s follow one another, and cover all frames', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000_000 }), (frames) => {
      const parts = divideToDenoise(frames);
      expect(parts[0]?.first).toBe(0);
      for (const [at, part] of parts.entries()) expect(part.end).toBe(parts[at + 1]?.first ?? part.end);
      expect((parts.at(-1)?.end ?? 0) * 7_680).toBeGreaterThanOrEqual(frames);
      const shortest = Math.min(...parts.map(({ first, end }) => end - first));
      expect(parts.length === 1 || shortest * 7_680 >= 20 * 48_000).toBe(true);
    }),
  );
});

test('a part that begins within the first two seconds is as in the whole, with its clicks', async () => {
  const samples = speechAt(1, 0.4);
  // A click of a few samples, shortly before the border between the parts, and one after it.
  for (const at of [4 * 7_680 - 10, 6 * 7_680]) samples.fill(20_000, 2 * at, 2 * at + 12);
  const [whole, divided] = [recorder(1), recorder(1)];
  const one = await denoiseAll(samples, whole);
  const two = await denoiseAll(samples, divided, [
    { first: 0, end: 4 },
    { first: 4, end: 10 },
  ]);
  expect(divided.heard).toEqual(whole.heard);
  expect(one.clicks.length).toBeGreaterThanOrEqual(2);
  expect(two.clicks).toEqual(one.clicks);
  expect(two.direction(WHOLE)).toBe(one.direction(WHOLE));
});
