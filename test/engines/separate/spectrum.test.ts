import { expect, test } from 'vitest';
import {
  BINS,
  computeAmplitudes,
  createTransform,
  type Gains,
  HOP,
  turnSpectrum,
  WINDOW,
} from '../../../src/engines/separate/spectrum.ts';

/** Takes two signals through spectra and back with the given gains. */
function throughSpectra(first: Float32Array, second: Float32Array, gains: Gains) {
  const transform = createTransform();
  const spectrum = new Float64Array(2 * WINDOW);
  const back = { first: new Float32Array(first.length), second: new Float32Array(second.length) };
  for (let offset = 0; offset + WINDOW <= first.length; offset += HOP) {
    transform.forward(first, second, offset, spectrum);
    transform.addInverse(spectrum, gains, back.first, back.second, offset);
  }
  return back;
}

const length = 6 * WINDOW;
const tone = (bin: number) =>
  Float32Array.from({ length }, (_, at) => Math.sin((2 * Math.PI * bin * at) / WINDOW));
/** Where four windows overlap. */
const inner = (signal: Float32Array) => signal.subarray(WINDOW, -WINDOW);

test('with gains of 1 both signals are returned unchanged', () => {
  const all = new Float32Array(BINS).fill(1);
  const first = tone(40);
  const second = tone(7.3);
  const back = throughSpectra(first, second, { first: all, second: all });
  expect(
    Math.max(...inner(back.first).map((value, at) => Math.abs(value - (inner(first)[at] ?? 0)))),
  ).toBeLessThan(1e-5);
  expect(
    Math.max(...inner(back.second).map((value, at) => Math.abs(value - (inner(second)[at] ?? 0)))),
  ).toBeLessThan(1e-5);
});

test('a gain lowers its own frequency, and no other', () => {
  const gains = new Float32Array(BINS).fill(1);
  gains.fill(0, 30, 51);
  const back = throughSpectra(tone(40), tone(200), { first: gains, second: gains });
  expect(Math.max(...inner(back.first).map(Math.abs))).toBeLessThan(0.01);
  expect(Math.max(...inner(back.second).map(Math.abs))).toBeGreaterThan(0.99);
});

test('each of the two signals has gains of its own', () => {
  const open = new Float32Array(BINS).fill(1);
  const half = new Float32Array(BINS).fill(0.5);
  const first = tone(40);
  const second = tone(41.5);
  const back = throughSpectra(first, second, { first: open, second: half });
  const error = (signal: Float32Array, truth: Float32Array, gain: number) =>
    Math.max(...inner(signal).map((value, at) => Math.abs(value - gain * (inner(truth)[at] ?? 0))));
  expect(error(back.first, first, 1)).toBeLessThan(1e-5);
  expect(error(back.second, second, 0.5)).toBeLessThan(1e-5);
});

test('a voice on one side is one signal when it is turned to the middle, and is returned to its side', () => {
  const first = tone(40);
  const none = new Float32Array(BINS);
  const all = new Float32Array(BINS).fill(1);
  const transform = createTransform();
  const spectrum = new Float64Array(2 * WINDOW);
  const back = { first: new Float32Array(length), second: new Float32Array(length) };
  for (let offset = 0; offset + WINDOW <= length; offset += HOP) {
    transform.forward(first, first, offset, spectrum); // on the left: middle and side are equal
    turnSpectrum(spectrum, Math.PI / 4);
    const gains = { first: all, second: none, turn: -Math.PI / 4 };
    transform.addInverse(spectrum, gains, back.first, back.second, offset);
  }
  for (const signal of [back.first, back.second]) {
    expect(
      Math.max(...inner(signal).map((value, at) => Math.abs(value - (inner(first)[at] ?? 0)))),
    ).toBeLessThan(1e-5);
  }
});

test('the amplitudes of two signals in one spectrum are distinguished', () => {
  const spectrum = new Float64Array(2 * WINDOW);
  const first = new Float32Array(BINS);
  const second = new Float32Array(BINS);
  createTransform().forward(tone(40), tone(200), 0, spectrum);
  computeAmplitudes(spectrum, first, second);
  expect(first.indexOf(Math.max(...first))).toBe(40);
  expect(second.indexOf(Math.max(...second))).toBe(200);
  expect(first[200]).toBeLessThan(1e-2);
  expect(second[40]).toBeLessThan(1e-2);
});
