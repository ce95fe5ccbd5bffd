/** What can be heard where parts meet: measured at the seams and, for comparison, at many places elsewhere. */
import { openWav, type WavReader } from '../src/engines/media/wav.ts';
import { SAMPLE_RATE } from '../src/prepare/media/codecs.ts';
import { median, quantile } from './measure.ts';
import { TONE_HZ } from './talk.ts';

/** 10 ms: short enough that a click of a few samples stands out of it. */
const WINDOW = 480;
/** 30 ms, six and a half turns of the tone. */
const TONE_WINDOW = 1_440;
/** Lags that are tried to see whether the sound moved, in samples: half an AAC frame. */
const MOST_LAG = 512;

/** Where to look: samples of 48 kHz. */
export interface Places {
  readonly seams: readonly number[];
  /** Pauses, where nobody speaks, as at a seam: an encoder's errors are several times as large under speech. */
  readonly elsewhere: readonly number[];
}

/** The worst seam ÷ the worst hundredth of the places elsewhere; `degrees`: that of the seams itself. */
export interface Heard {
  /** How far a sample lies from where the two before it point: a click. */
  readonly click: number;
  /** Change of the level from the 30 ms before to the 30 ms behind. */
  readonly energy: number;
  /** Jump of the tone from the 30 ms before to the 30 ms behind. */
  readonly phase: number;
  readonly degrees: number;
}

/** Listens to a sound alone, with nothing to compare it with. */
export async function hearSeams(path: string, { seams, elsewhere }: Places): Promise<Heard> {
  const wav = await openWav(path);
  const measure = async (places: readonly number[]) => {
    const found: { click: number; energy: number; phase: number }[] = [];
    for (const place of places) found.push(await hear(wav, place));
    return found;
  };
  const [at, beside] = [await measure(seams), await measure(elsewhere)];
  await wav.close();
  const ratio = (what: 'click' | 'energy' | 'phase') =>
    Math.max(...at.map((found) => found[what])) /
    quantile(
      beside.map((found) => found[what]),
      0.99,
    );
  const degrees = Math.max(...at.map(({ phase }) => phase));
  return { click: ratio('click'), energy: ratio('energy'), phase: ratio('phase'), degrees };
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
  const energy = Math.abs(decibels(before) - decibels(behind));
  const turned = tonePhase(behind, place) - tonePhase(before, place - TONE_WINDOW);
  return { click, energy, phase: Math.abs(wrapDegrees(turned)) };
}

function decibels(samples: Int16Array): number {
  const power = samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length;
  return 10 * Math.log10(power + 1); // digital silence is 0 and not without end
}

/** Degrees of the tone in a window that begins at that sample of the whole. */
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
  /** Root of the mean square of the difference within 10 ms: the worst seam ÷ the median of the pauses. */
  readonly error: number;
  /** Samples by which the sound behind a seam lies beside the original's. */
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

/** How many samples later the joined sound is behind a seam: where both differ least over a second and a half. */
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
