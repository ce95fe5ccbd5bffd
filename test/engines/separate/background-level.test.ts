import { expect, test } from 'vitest';
import { maskingWeights, speechEnergy } from '../../../src/engines/separate/background-level.ts';

const WINDOW = 0.032;
/** Energies of ten seconds: speech of energy 1 from 3 to 7 s over a background of the given level. */
function energies(backgroundDecibels: number): Float32Array {
  const background = 10 ** (backgroundDecibels / 10);
  return Float32Array.from({ length: Math.round(10 / WINDOW) }, (_, at) => {
    const time = at * WINDOW;
    return background + (time >= 3 && time <= 7 ? 1 : 0);
  });
}
const speech = [{ start: 3, end: 7 }];

test.each([
  [-5, 1],
  [-13.05, 0.99],
  [-15, 0.5],
  [-17.05, 0],
  [-40, 0],
])('a background of %d dB under the speech is masked to %d', (decibels, weight) => {
  expect(maskingWeights(speech, energies(decibels), WINDOW)[0]).toBeCloseTo(weight, 1);
});

test('each segment is judged by the pauses around it', () => {
  const loud = energies(-8);
  const quiet = energies(-40);
  const both = new Float32Array(loud.length * 2);
  both.set(loud);
  both.set(quiet, loud.length);
  const weights = maskingWeights([...speech, { start: 13, end: 17 }], both, WINDOW);
  expect(weights[0]).toBe(1);
  expect(weights[1]).toBeLessThan(1);
});

test('speech without pauses is judged by its quietest parts', () => {
  const steady = new Float32Array(100).fill(1);
  const broken = Float32Array.from({ length: 100 }, (_, at) => (at % 5 === 0 ? 1e-6 : 1));
  const whole = [{ start: 0, end: 3.2 }];
  expect(maskingWeights(whole, steady, WINDOW)).toEqual([1]);
  expect(maskingWeights(whole, broken, WINDOW)).toEqual([0]);
});

test('the energy of speech leaves the pauses out', () => {
  expect(speechEnergy(speech, energies(-60), WINDOW)).toBeGreaterThan(0.9);
  expect(speechEnergy([], energies(-60), WINDOW)).toBe(0);
});
