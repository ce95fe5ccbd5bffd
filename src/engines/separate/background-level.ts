/** How loud the background is under each stretch of speech, and so how far masking it is worth its price. */
import { type Segment, segmentFinder } from './segments.ts';

/** Pauses this far from a segment, in seconds, tell of the background under it. */
const NEIGHBOURHOOD = 5;

/**
 * Masking takes a little of the voice with the background. Measured on mixes of speech and music: at −13 dB both tracks
 * gain by it, at −17 dB both lose. Between the two it fades in.
 */
const MASKING_FROM_DB = -17;
const MASKING_FULL_DB = -13;

/** Speech has short breaks between its sounds: the quietest tenth of a segment shows what lies under it. */
const QUIET_SHARE = 0.1;

/**
 * For each segment how far to mask, from 0 (the whole sound is voice) to 1 (mask fully).
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
    const background = pauses.length > 0 ? mean(pauses) : quietest(inside);
    return weightAt(background, mean(inside) - background);
  });
}

/** Mean square of all speech, for the loudness that a dubbed voice should have; 0 when there is none. */
export function speechEnergy(
  segments: readonly Segment[],
  energies: Float32Array,
  windowSeconds: number,
): number {
  const isSpeech = speechWindows(segments, energies.length, windowSeconds);
  return mean([...energies].filter((_, at) => isSpeech[at]));
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

function quietest(values: Float32Array): number {
  const sorted = values.toSorted();
  return mean(sorted.subarray(0, Math.ceil(sorted.length * QUIET_SHARE)));
}

function mean(values: ArrayLike<number>): number {
  if (values.length === 0) return 0;
  let sum = 0;
  for (let at = 0; at < values.length; at += 1) sum += values[at] ?? 0;
  return sum / values.length;
}
