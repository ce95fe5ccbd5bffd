import { beforeAll, describe, expect, test } from 'vitest';
import { type Denoised, denoise } from '../../../src/engines/separate/denoise.ts';
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
    result = await denoise(soundOf(samples, 2), output, () => {});
  });

  test('gives sound of the same length, at the same time as the speech', () => {
    expect(output.heard).toHaveLength(middle.length);
    const shifts = [-960, -480, -240, -48, -5, 0, 5, 48, 240, 480, 960];
    const values = shifts.map((shift) => likeness(middle, output.heard, shift));
    expect(shifts[values.indexOf(Math.max(...values))]).toBe(0);
    expect(Math.max(...values)).toBeGreaterThan(0.8);
  });

  test('hears the voice in the centre', () => {
    expect(result.direction(WHOLE)).toBe(0);
  });
});

test.each([
  ['left', 1, 0, Math.PI / 4],
  ['right', 0, 1, -Math.PI / 4],
  ['half left', 1, 0.4, Math.atan(0.6 / 1.4)],
])('a voice on the %s is heard there', async (_, left, right, angle) => {
  const { direction } = await denoise(soundOf(speechAt(left, right), 2), recorder(1), () => {});
  expect(Math.abs(direction(WHOLE) - angle)).toBeLessThan(0.12);
});

test('silence has no direction', async () => {
  const { direction, clicks } = await denoise(soundOf(new Int16Array(20_000), 2), recorder(1), () => {});
  expect(direction(WHOLE)).toBe(0);
  expect(clicks).toEqual([]);
});
