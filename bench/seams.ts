/** Measures audible errors where parts meet: at the seams and, for comparison, at many other positions. */
import { openWav, type WavReader } from '../src/media/audio/wav.ts';
import { SAMPLE_RATE } from '../src/media/encode/encoders.ts';
import { median, quantile } from './measure.ts';
import { TONE_HZ } from './talk.ts';

/** 10 ms: short enough that a click of a few samples is visible in it. */
const WINDOW = 480;
/** 30 ms, six and a half periods of the tone. */
const TONE_WINDOW = 1_440;
/** Range of lags to test for a shift of the sound, in samples: half an AAC frame. */
const MOST_LAG = 512;

/** The positions to measure, in samples at 48 kHz. */
export interface Places {
  readonly seams: readonly number[];
  /** Positions in pauses, like seams: the errors of an encoder are several times larger during speech. */
  readonly elsewhere: readonly number[];
}

/** The worst seam ÷ the worst hundredth of the other positions. */
export interface Heard {
  /** The difference between a sample and the value that the two samples before it predict: a click. */
  readonly click: number;
  /** Change of the level from the 30 ms before to the 30 ms after the seam, beyond that of the original there. */
  readonly energy: number;
  /** Phase jump of the tone between the 30 ms before and the 30 ms after the seam. */
  readonly phase: number;
}

/** Measures what a listener would notice at the seams of the joined sound. */
export async function hearSeams(before: string, after: string, { seams, elsewhere }: Places): Promise<Heard> {
  const [original, joined] = [await openWav(before), await openWav(after)];
  const measure = async (places: readonly number[]) => {
    const found: Heard[] = [];
    for (const place of places) {
      const [was, is] = [await hear(original, place), await hear(joined, place)];
      found.push({ click: is.click, energy: Math.abs(is.energy - was.energy), phase: is.phase });
    }
    return found;
  };
  const [at, beside] = [await measure(seams), await measure(elsewhere)];
  await Promise.all([original.close(), joined.close()]);
  const ratio = (what: keyof Heard) =>
    Math.max(...at.map((found) => found[what])) /
    quantile(
      beside.map((found) => found[what]),
      0.99,
    );
  return { click: ratio('click'), energy: ratio('energy'), phase: ratio('phase') };
}

async function hear(wav: WavReader, place: number) {
  const samples = (await wav.read(place - TONE_WINDOW, 2 * TONE_WINDOW)).slice();
  const near = samples.subarray(TONE_WINDOW - WINDOW, TONE_WINDOW + WINDOW);
  let click = 0;
  for (let at = 2; at < near.length; at += 1) {
    const pointed = 2 * (near[at - 1] ?? 0) - (near[at - 2] ?? 0);
    click = Math.max(click, Math.abs((near[at] ?? 0) - pointed));
  }
  const [before, behind] = [samples.subarray(0, TONE_WINDOW), samples.subarray(TONE_WINDOW)];
  const energy = decibels(behind) - decibels(before);
  const turned = tonePhase(behind, place) - tonePhase(before, place - TONE_WINDOW);
  return { click, energy, phase: Math.abs(wrapDegrees(turned)) };
}

function decibels(samples: Int16Array): number {
  const power = samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length;
  return 10 * Math.log10(power + 1); // so that digital silence is 0 instead of minus infinity
}

/** Returns the phase of the tone in degrees, in a window that begins at that sample of the whole. */
function tonePhase(samples: Int16Array, from: number): number {
  let [real, imaginary] = [0, 0];
  for (const [at, sample] of samples.entries()) {
    const angle = (2 * Math.PI * TONE_HZ * (from + at)) / SAMPLE_RATE;
    const weight = 1 - Math.cos((2 * Math.PI * (at + 0.5)) / samples.length);
    real += weight * sample * Math.cos(angle);
    imaginary -= weight * sample * Math.sin(angle);
  }
  return (Math.atan2(imaginary, real) * 180) / Math.PI;
}

function wrapDegrees(degrees: number): number {
  return degrees - 360 * Math.round(degrees / 360);
}

export interface Compared {
  /** Root mean square of the difference within 10 ms: the worst seam ÷ the median of the pauses. */
  readonly error: number;
  /** Shift of the sound after a seam relative to the original, in samples. */
  readonly lag: number;
}

/** Compares the joined sound with the original. */
export async function compareSeams(
  before: string,
  after: string,
  { seams, elsewhere }: Places,
): Promise<Compared> {
  const [original, joined] = [await openWav(before), await openWav(after)];
  const beside: number[] = [];
  for (const place of elsewhere) beside.push(await errorAt(original, joined, place));
  const errors: number[] = [];
  const lags: number[] = [];
  for (const seam of seams) {
    errors.push(await errorAt(original, joined, seam));
    lags.push(Math.abs(await findLag(original, joined, seam)));
  }
  await Promise.all([original.close(), joined.close()]);
  return { error: Math.max(...errors) / median(beside), lag: Math.max(...lags) };
}

async function errorAt(original: WavReader, joined: WavReader, place: number): Promise<number> {
  const left = (await original.read(place - WINDOW / 2, WINDOW)).slice();
  const right = await joined.read(place - WINDOW / 2, WINDOW);
  const sum = left.reduce((total, sample, at) => total + (sample - (right[at] ?? 0)) ** 2, 0);
  return Math.sqrt(sum / WINDOW);
}

/**
 * Returns the shift in samples of the joined sound after a seam: the lag with the smallest difference over one and a
 * half seconds.
 */
async function findLag(original: WavReader, joined: WavReader, seam: number): Promise<number> {
  const length = 1.5 * SAMPLE_RATE;
  const right = (await joined.read(seam, length)).slice();
  const left = (await original.read(seam - MOST_LAG, length + 2 * MOST_LAG)).slice();
  let best = { lag: Number.NaN, sum: Number.POSITIVE_INFINITY };
  for (let lag = -MOST_LAG; lag <= MOST_LAG; lag += 1) {
    let sum = 0;
    for (let at = 0; at < length && sum < best.sum; at += 7) {
      sum += ((right[at] ?? 0) - (left[at + MOST_LAG - lag] ?? 0)) ** 2;
    }
    if (sum < best.sum) best = { lag, sum };
  }
  return best.lag;
}
