/** Measures the background under speech: its loudness, and its spectrum in the pauses around the speech. */

import {
  addValues,
  computeMean,
  meanSquare,
  splitMidSide,
  TINY,
  turnSamples,
} from '../../media/audio/samples.ts';
import { findPauses, nearestWindows, type Segment, segmentFinder } from '../../media/audio/segments.ts';
import type { WavReader } from '../../media/audio/wav.ts';
import { BINS, computeAmplitudes, createTransform, type Gains, type Spectrum, WINDOW } from './spectrum.ts';

/** Pauses at most this far from a segment, in seconds, represent the background under it. */
const NEIGHBOURHOOD = 5;

/**
 * Masking removes a little of the voice together with the background. Measured on mixes of speech and music: at −13 dB
 * both tracks improve, at −17 dB both get worse. Between these levels the masking fades in.
 */
const MASKING_FROM_DB = -17;
const MASKING_FULL_DB = -13;

/** Speech has short breaks between its sounds, so the quietest tenth shows the background, with or without speech over it. */
const QUIET_SHARE = 0.1;

/**
 * Returns for each segment how far to mask, from 0 (the whole sound is voice) to 1 (mask fully).
 * @param energies mean square of each window of sound
 * @param windowSeconds length of a window
 */
export function maskingWeights(
  segments: readonly Segment[],
  energies: Float32Array,
  windowSeconds: number,
): number[] {
  const isSpeech = speechWindows(segments, energies.length, windowSeconds);
  return segments.map((segment) => {
    const from = Math.max(0, Math.floor(segment.start / windowSeconds));
    const to = Math.min(energies.length, Math.ceil(segment.end / windowSeconds));
    const inside = energies.subarray(from, to);
    const reach = Math.round(NEIGHBOURHOOD / windowSeconds);
    const pauses = [...energies.subarray(Math.max(0, from - reach), to + reach)].filter(
      (_, at) => !isSpeech[Math.max(0, from - reach) + at],
    );
    const background = pauses.length > 0 ? computeMean(pauses) : quietest(inside);
    return weightAt(background, computeMean(inside) - background);
  });
}

/** Returns the mean square of all speech, which sets the loudness of a dub; 0 if there is no speech. */
export function speechEnergy(
  segments: readonly Segment[],
  energies: Float32Array,
  windowSeconds: number,
): number {
  const isSpeech = speechWindows(segments, energies.length, windowSeconds);
  return computeMean([...energies].filter((_, at) => isSpeech[at]));
}

function speechWindows(segments: readonly Segment[], count: number, windowSeconds: number): boolean[] {
  const find = segmentFinder(segments);
  return Array.from({ length: count }, (_, at) => find((at + 0.5) * windowSeconds) >= 0);
}

function weightAt(background: number, speech: number): number {
  if (background <= 0) return 0;
  if (speech <= 0) return 1;
  const decibels = 10 * Math.log10(background / speech);
  const weight = (decibels - MASKING_FROM_DB) / (MASKING_FULL_DB - MASKING_FROM_DB);
  return Math.min(1, Math.max(0, weight));
}

/** Returns the mean of the quietest tenth. */
function quietest(values: Float32Array): number {
  const sorted = values.toSorted();
  return computeMean(sorted.subarray(0, Math.ceil(sorted.length * QUIET_SHARE)));
}

/** Two seconds of pause on each side: a few beats of music, and a mean with little variance. */
const PAUSE_WINDOWS = 47;
/** The channel difference may be this much stronger during speech (4 dB) and still count as free of voice. */
const CENTRED_RISE = 2.5;
/** Music is mostly centred, but a value computed from a weak difference must not come from codec noise. */
const MAX_MID_PER_SIDE = 3;

/** The background in a pause: amplitudes (root of the mean power) of each frequency, and the time of the pause. */
interface PauseLevel {
  /** Time in seconds of the end that is nearest to the speech. */
  readonly time: number;
  readonly mid: Float32Array;
  readonly side: Float32Array;
}

export interface Survey {
  readonly before: PauseLevel | null;
  readonly after: PauseLevel | null;
  /** Whether the voice comes from one direction, so that what is beside it contains only background. */
  readonly centred: boolean;
  /** Whether it is known to come from several directions. */
  readonly isWide: boolean;
  /** Amplitude of the mid signal of the background for each unit of its side signal, at most 3. */
  readonly midPerSide: number;
}

const NOTHING_HEARD: Survey = { before: null, after: null, centred: false, isWide: false, midPerSide: 0 };

/** Measurements of some windows of sound. */
interface Windows {
  readonly quiet: number;
  readonly sideEnergy: number;
}

/**
 * Returns a function that measures segments one after the other. Only the last one stays in memory, so memory does not
 * grow with their number.
 * @param mix 48 kHz stereo
 * @param directions where the voice of each segment is, in radians; default: in the centre
 * @returns a function that takes the index of a segment, in ascending order
 */
export function createSurveyor(
  mix: WavReader,
  segments: readonly Segment[],
  directions: readonly number[] = [],
): (index: number) => Promise<Survey> {
  const pauses = findPauses(segments, mix.frames / mix.sampleRate);
  const meter = createMeter(mix);
  const survey = async (segment: Segment, direction: number): Promise<Survey> => {
    const limits = { window: WINDOW, count: PAUSE_WINDOWS, sampleRate: mix.sampleRate };
    const { before, after } = nearestWindows(pauses, (segment.start + segment.end) / 2, limits);
    const measure: Measure = (positions, sums) => meter(positions, sums, direction);
    const speech = await measure(segmentWindows(segment, mix.sampleRate), null);
    const pauseBefore = await measurePause(measure, before, speech);
    const pauseAfter = await measurePause(measure, after, speech);
    const sideEnergy = Math.max(pauseBefore?.sideEnergy ?? 0, pauseAfter?.sideEnergy ?? 0);
    const levels = [pauseBefore, pauseAfter].filter((heard) => heard !== null);
    const mid = addValues(levels.map((heard) => addValues(heard.mid)));
    const side = addValues(levels.map((heard) => addValues(heard.side)));
    const centred = speech.sideEnergy <= CENTRED_RISE * sideEnergy;
    return {
      before: pauseBefore && { ...pauseBefore, time: ((before[0] ?? 0) + WINDOW) / mix.sampleRate },
      after: pauseAfter && { ...pauseAfter, time: (after[0] ?? 0) / mix.sampleRate },
      centred,
      isWide: levels.length > 0 && !centred,
      midPerSide: side > 0 ? Math.min(MAX_MID_PER_SIDE, mid / side) : 0,
    };
  };
  let last = { index: -1, survey: NOTHING_HEARD };
  return async (index) => {
    const segment = segments[index];
    if (segment !== undefined && index !== last.index) {
      last = { index, survey: await survey(segment, directions[index] ?? 0) };
    }
    return last.survey;
  };
}

/**
 * Returns the level of a pause, lowered if the background is quieter under the speech: many films lower their music
 * there.
 */
async function measurePause(measure: Measure, positions: readonly number[], speech: Windows) {
  if (positions.length === 0) return null;
  const mid = new Float32Array(BINS);
  const side = new Float32Array(BINS);
  const { quiet, sideEnergy } = await measure(positions, { mid, side });
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

/** Measures the windows at these positions and, if requested, adds the power of each frequency to `sums`. */
type Measure = (
  positions: readonly number[],
  sums: { mid: Float32Array; side: Float32Array } | null,
) => Promise<Windows>;

/** Returns a function that measures with a direction as the middle. */
function createMeter(mix: WavReader): (...args: [...Parameters<Measure>, number]) => Promise<Windows> {
  const transform = createTransform();
  const mid = new Float32Array(WINDOW);
  const side = new Float32Array(WINDOW);
  const spectrum = new Float64Array(2 * WINDOW);
  const midAmplitudes = new Float32Array(BINS);
  const sideAmplitudes = new Float32Array(BINS);
  return async (positions, sums, direction) => {
    const energies = new Float32Array(positions.length);
    let sideEnergy = 0;
    for (const [index, position] of positions.entries()) {
      splitMidSide(await mix.read(position, WINDOW), mid, side);
      if (direction !== 0) turnSamples(mid, side, direction);
      const sideMean = meanSquare(side);
      energies[index] = meanSquare(mid) + sideMean;
      sideEnergy += sideMean / positions.length;
      if (sums === null) continue;
      transform.forward(mid, side, 0, spectrum);
      computeAmplitudes(spectrum, midAmplitudes, sideAmplitudes);
      addPower(sums.mid, midAmplitudes);
      addPower(sums.side, sideAmplitudes);
    }
    return { quiet: quietest(energies), sideEnergy };
  };
}

function addPower(total: Float32Array, values: Float32Array): void {
  for (let at = 0; at < total.length; at += 1) total[at] = (total[at] ?? 0) + (values[at] ?? 0) ** 2;
}

/**
 * Sound this many times stronger than the background in pauses is voice that the mask has missed. On mixes at -10 dB
 * this removes 17 to 60 % of the voice from the background. A lower value would remove more of music that changes.
 */
const CEILING = 2;

/**
 * Changes the gains of the vocals so that the remaining background has at least the amplitude that it has in the pauses
 * (spectral subtraction), and not much more. If the voice is centred, the channel difference is background only, and
 * shows how the background changes during the speech.
 * @returns a function for one spectrum of `mid + i·side` at a time in seconds
 */
export function createFloor(): (survey: Survey, time: number, mixed: Spectrum, gains: Gains) => void {
  const mid = new Float32Array(BINS);
  const side = new Float32Array(BINS);
  return (survey, time, mixed, gains) => {
    const { before, after } = survey;
    if (before === null && after === null) return;
    const share = shareOfAfter(before, after, time);
    computeAmplitudes(mixed, mid, side);
    for (let bin = 0; bin < BINS; bin += 1) {
      const whole = mid[bin] ?? 0;
      const difference = side[bin] ?? 0;
      const paused = (1 - share) * (before?.mid[bin] ?? 0) + share * (after?.mid[bin] ?? 0);
      const shown = survey.centred ? survey.midPerSide * difference : 0;
      const background = Math.max(paused, shown) / (whole + TINY);
      raise(gains.first, bin, CEILING * background);
      lower(gains.first, bin, background);
      const sidePaused = (1 - share) * (before?.side[bin] ?? 0) + share * (after?.side[bin] ?? 0);
      lower(gains.second, bin, survey.centred ? 1 : sidePaused / (difference + TINY));
    }
  };
}

function raise(gains: Float32Array, bin: number, background: number): void {
  gains[bin] = Math.max(gains[bin] ?? 0, 1 - background);
}

function lower(gains: Float32Array, bin: number, background: number): void {
  gains[bin] = Math.min(gains[bin] ?? 0, Math.max(0, 1 - background));
}

/** Returns the weight of the pause after the speech, 0 to 1. It fades from the pause before to the pause after. */
function shareOfAfter(before: PauseLevel | null, after: PauseLevel | null, time: number): number {
  if (before === null) return 1;
  if (after === null) return 0;
  return Math.min(1, Math.max(0, (time - before.time) / (after.time - before.time)));
}
