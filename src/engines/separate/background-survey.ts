/** Listens to the pauses around a segment and to the segment itself: what background is to be kept under the speech. */
import type { WavReader } from '../media/wav-file.ts';
import { findPauses, nearestWindows } from './pauses.ts';
import { splitMidSide } from './samples.ts';
import type { Segment } from './segments.ts';
import { amplitudes, BINS, createTransform, WINDOW } from './spectrum.ts';

/** Two seconds of pause on each side: some beats of music, and a mean that hardly scatters. */
const PAUSE_WINDOWS = 47;
/** The quietest tenth of the windows tells how loud the background is, whether somebody speaks over it or not. */
const QUIET_SHARE = 0.1;
/** The difference of the channels may be this much stronger under speech (4 dB) and still be without the voice. */
const CENTRED_RISE = 2.5;
/** Music is mostly in the middle, but what is made out from a weak difference must not be the noise of a codec. */
const MAX_MID_PER_SIDE = 3;

/** The background in a pause: amplitudes (root of the mean power) of each frequency, and the place of the pause. */
export interface PauseLevel {
  /** Seconds; the end that is nearest to the speech. */
  readonly time: number;
  readonly mid: Float32Array;
  readonly side: Float32Array;
}

export interface Survey {
  readonly before: PauseLevel | null;
  readonly after: PauseLevel | null;
  /** Whether the voice is the same in both channels, so that their difference is background alone. */
  readonly centred: boolean;
  /** How strong the middle of the background is for each unit of its difference, at most 3. */
  readonly midPerSide: number;
}

const NOTHING_HEARD: Survey = { before: null, after: null, centred: false, midPerSide: 0 };

/** What was heard in some windows of sound. */
interface Windows {
  readonly quiet: number;
  readonly sideEnergy: number;
}

/**
 * Prepares to survey segments one after the other; only the last one is remembered, however many there are.
 * @param mix 48 kHz stereo
 * @returns a function that takes the position of a segment, in rising order
 */
export function createSurveyor(
  mix: WavReader,
  segments: readonly Segment[],
): (index: number) => Promise<Survey> {
  const pauses = findPauses(segments, mix.frames / mix.sampleRate);
  const ear = createEar(mix);
  const survey = async (segment: Segment): Promise<Survey> => {
    const limits = { window: WINDOW, count: PAUSE_WINDOWS, sampleRate: mix.sampleRate };
    const { before, after } = nearestWindows(pauses, (segment.start + segment.end) / 2, limits);
    const speech = await ear.listen(segmentWindows(segment, mix.sampleRate), null);
    const heardBefore = await hearPause(ear, before, speech);
    const heardAfter = await hearPause(ear, after, speech);
    const sideEnergy = Math.max(heardBefore?.sideEnergy ?? 0, heardAfter?.sideEnergy ?? 0);
    const levels = [heardBefore, heardAfter].filter((heard) => heard !== null);
    const mid = sum(levels.map((heard) => sum(heard.mid)));
    const side = sum(levels.map((heard) => sum(heard.side)));
    return {
      before: heardBefore && { ...heardBefore, time: ((before[0] ?? 0) + WINDOW) / mix.sampleRate },
      after: heardAfter && { ...heardAfter, time: (after[0] ?? 0) / mix.sampleRate },
      centred: speech.sideEnergy <= CENTRED_RISE * sideEnergy,
      midPerSide: side > 0 ? Math.min(MAX_MID_PER_SIDE, mid / side) : 0,
    };
  };
  let last = { index: -1, survey: NOTHING_HEARD };
  return async (index) => {
    const segment = segments[index];
    if (segment !== undefined && index !== last.index) last = { index, survey: await survey(segment) };
    return last.survey;
  };
}

/** The level of a pause, lowered where the background is quieter under the speech: many films lower their music there. */
async function hearPause(ear: Ear, positions: readonly number[], speech: Windows) {
  if (positions.length === 0) return null;
  const mid = new Float32Array(BINS);
  const side = new Float32Array(BINS);
  const { quiet, sideEnergy } = await ear.listen(positions, { mid, side });
  const lowered = quiet > speech.quiet ? Math.sqrt(speech.quiet / quiet) : 1;
  for (const level of [mid, side]) {
    for (let bin = 0; bin < BINS; bin += 1) {
      level[bin] = Math.sqrt((level[bin] ?? 0) / positions.length) * lowered;
    }
  }
  return { mid, side, sideEnergy: sideEnergy * lowered ** 2 };
}

function segmentWindows(segment: Segment, sampleRate: number): number[] {
  const first = Math.floor(segment.start * sampleRate);
  const count = Math.max(1, Math.floor(((segment.end - segment.start) * sampleRate) / WINDOW));
  return Array.from({ length: count }, (_, at) => first + at * WINDOW);
}

interface Ear {
  /** Measures the windows at these positions and, if wanted, adds the power of each frequency to `sums`. */
  listen(
    positions: readonly number[],
    sums: { mid: Float32Array; side: Float32Array } | null,
  ): Promise<Windows>;
}

function createEar(mix: WavReader): Ear {
  const transform = createTransform();
  const mid = new Float32Array(WINDOW);
  const side = new Float32Array(WINDOW);
  const spectrum = new Float64Array(2 * WINDOW);
  const midAmplitudes = new Float32Array(BINS);
  const sideAmplitudes = new Float32Array(BINS);
  return {
    async listen(positions, sums) {
      const energies = new Float32Array(positions.length);
      let sideEnergy = 0;
      for (const [index, position] of positions.entries()) {
        splitMidSide(await mix.read(position, WINDOW), mid, side);
        const sideMean = meanSquare(side);
        energies[index] = meanSquare(mid) + sideMean;
        sideEnergy += sideMean / positions.length;
        if (sums === null) continue;
        transform.forward(mid, side, 0, spectrum);
        amplitudes(spectrum, midAmplitudes, sideAmplitudes);
        addPower(sums.mid, midAmplitudes);
        addPower(sums.side, sideAmplitudes);
      }
      const quietest = energies.toSorted().subarray(0, Math.ceil(energies.length * QUIET_SHARE));
      return { quiet: sum(quietest) / quietest.length, sideEnergy };
    },
  };
}

function meanSquare(samples: Float32Array): number {
  let total = 0;
  for (const sample of samples) total += sample * sample;
  return total / samples.length;
}

function addPower(total: Float32Array, values: Float32Array): void {
  for (let at = 0; at < total.length; at += 1) total[at] = (total[at] ?? 0) + (values[at] ?? 0) ** 2;
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
