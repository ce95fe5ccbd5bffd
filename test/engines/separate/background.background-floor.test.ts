import { expect, test } from 'vitest';
import { createFloor, type Survey } from '../../../src/engines/separate/background.ts';
import { BINS, WINDOW } from '../../../src/engines/separate/spectrum.ts';

const flat = (value: number) => new Float32Array(BINS).fill(value);

/** A spectrum whose middle and difference have the given amplitudes at every frequency. */
function mixedOf(mid: number, side: number): Float64Array {
  const spectrum = new Float64Array(2 * WINDOW);
  for (let at = 0; at < WINDOW; at += 1) {
    spectrum[2 * at] = mid;
    spectrum[2 * at + 1] = side; // real spectra of even signals: mid + i·side
  }
  return spectrum;
}

function gainsOf(survey: Survey, time: number, mixed: Float64Array, vocals = 1) {
  const gains = { first: flat(vocals), second: flat(vocals) };
  createFloor()(survey, time, mixed, gains);
  return { mid: gains.first[100], side: gains.second[100] };
}

const before = { time: 1, mid: flat(0.2), side: flat(0.1) };
const after = { time: 3, mid: flat(0.4), side: flat(0.1) };
const survey: Survey = { before, after: null, centred: false, isWide: false, midPerSide: 1 };

test('the background keeps the amplitude that it has in the pause', () => {
  expect(gainsOf(survey, 2, mixedOf(2, 1)).mid).toBeCloseTo(0.9);
  expect(gainsOf(survey, 2, mixedOf(2, 1)).side).toBeCloseTo(0.9);
});

test('sound quieter than the pause is background entirely', () => {
  expect(gainsOf(survey, 2, mixedOf(0.1, 0.05))).toEqual({ mid: 0, side: 0 });
});

test('the level fades from the pause before to the pause after', () => {
  const both = { ...survey, after };
  const mids = [0.5, 1, 2, 3, 3.5].map((time) => gainsOf(both, time, mixedOf(1, 1)).mid);
  for (const [at, gain] of [0.8, 0.8, 0.7, 0.6, 0.6].entries()) expect(mids[at]).toBeCloseTo(gain);
});

test('the difference of the channels is background beside a voice in the middle, and shows how much else is', () => {
  const gains = gainsOf({ ...survey, centred: true, midPerSide: 0.5 }, 2, mixedOf(2, 1));
  expect(gains.side).toBe(0);
  expect(gains.mid).toBeCloseTo(0.75);
});

test('a mask that assigns far more to the background than the pauses contain is limited', () => {
  expect(gainsOf(survey, 2, mixedOf(2, 1), 0.1).mid).toBeCloseTo(0.8);
});

test('silent pauses and sound without pauses do not change a voice', () => {
  const silent = { ...before, mid: flat(0), side: flat(0) };
  expect(gainsOf({ ...survey, before: silent }, 2, mixedOf(2, 1))).toEqual({ mid: 1, side: 1 });
  expect(gainsOf({ ...survey, before: null }, 2, mixedOf(2, 1))).toEqual({ mid: 1, side: 1 });
});
