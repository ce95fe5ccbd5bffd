import { expect, test } from 'vitest';
import { BINS, createTransform, HOP, WINDOW } from '../../../src/engines/separate/spectrum.ts';

/** Takes two signals through spectra and back with the given gains. */
function throughSpectra(first: Float32Array, second: Float32Array, gains: Float32Array) {
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

test('with gains of 1 both signals come back as they were', () => {
  const first = tone(40);
  const second = tone(7.3);
  const back = throughSpectra(first, second, new Float32Array(BINS).fill(1));
  expect(
    Math.max(...inner(back.first).map((value, at) => Math.abs(value - (inner(first)[at] ?? 0)))),
  ).toBeLessThan(1e-5);
  expect(
    Math.max(...inner(back.second).map((value, at) => Math.abs(value - (inner(second)[at] ?? 0)))),
  ).toBeLessThan(1e-5);
});

test('a gain lowers its own frequency in both signals, and no other', () => {
  const gains = new Float32Array(BINS).fill(1);
  gains.fill(0, 30, 51);
  const back = throughSpectra(tone(40), tone(200), gains);
  expect(Math.max(...inner(back.first).map(Math.abs))).toBeLessThan(0.01);
  expect(Math.max(...inner(back.second).map(Math.abs))).toBeGreaterThan(0.99);
});
