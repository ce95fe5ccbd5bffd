import { expect, test } from 'vitest';
import { smoothSeam } from '../../../src/prepare/join/seam.ts';

const wave = (from: number, count: number, offset = 0) =>
  Int16Array.from({ length: count }, (_, at) => 3000 * Math.sin((from + at) / 20) + offset);

const largestStep = (samples: Int16Array) =>
  samples.slice(1).reduce((most, sample, at) => Math.max(most, Math.abs(sample - (samples[at] ?? 0))), 0);

test('a wave that goes on stays as it is', () => {
  const [tail, head] = [wave(0, 240), wave(240, 240)];
  expect(smoothSeam(tail, head, 1)).toBe(false);
  expect([tail, head]).toEqual([wave(0, 240), wave(240, 240)]);
});

test('a step is bent away: no larger one is left than the wave itself makes, and the far ends stay', () => {
  const [tail, head] = [wave(0, 240), wave(240, 240, 4000)];
  expect(smoothSeam(tail, head, 1)).toBe(true);
  expect(largestStep(Int16Array.from([...tail, ...head]))).toBeLessThan(2 * largestStep(wave(0, 480)));
  expect(Math.abs((tail[0] ?? 0) - (wave(0, 1)[0] ?? 0))).toBeLessThan(2);
});

test('each channel is looked at by itself', () => {
  const pair = (left: Int16Array, right: Int16Array) =>
    Int16Array.from([...left].flatMap((l, at) => [l, right[at] ?? 0]));
  const tail = pair(wave(0, 240), wave(0, 240));
  const head = pair(wave(240, 240), wave(240, 240, 4000));
  expect(smoothSeam(tail, head, 2)).toBe(true);
  expect(head.filter((_, at) => at % 2 === 0)).toEqual(wave(240, 240));
});
