/** Converts between 16-bit samples and the numbers of the signal processing, where full scale is 1, and sums them up. */

const FULL_SCALE = 32_768;
const MIN = -32_768;
const MAX = 32_767;

/** Avoids division by zero in silence. Far below the smallest 16-bit sample. */
export const TINY = 1e-12;

/** Turns two signals in place, like `turnSpectrum`. */
export function turnSamples(first: Float32Array, second: Float32Array, angle: number): void {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  for (let at = 0; at < first.length; at += 1) {
    const one = first[at] ?? 0;
    const other = second[at] ?? 0;
    first[at] = one * cos + other * sin;
    second[at] = other * cos - one * sin;
  }
}

/** Computes half the sum (and, if requested, half the difference) of the two channels of interleaved stereo. */
export function splitMidSide(stereo: Int16Array, mid: Float32Array, side: Float32Array | null): void {
  for (let at = 0; at < mid.length; at += 1) {
    const left = stereo[2 * at] ?? 0;
    const right = stereo[2 * at + 1] ?? 0;
    mid[at] = (left + right) / 2 / FULL_SCALE;
    if (side !== null) side[at] = (left - right) / 2 / FULL_SCALE;
  }
}

/**
 * Converts the separated voice (mid and side, from `skip` on) to vocals, and the rest of the original to background.
 * The subtraction uses integers, and the vocals are limited so that neither overflows: the two always add up exactly to
 * the original.
 */
export function partSamples(
  mid: Float32Array,
  side: Float32Array,
  skip: number,
  original: Int16Array,
  vocals: Int16Array,
  background: Int16Array,
): void {
  for (let at = 0; at < original.length; at += 1) {
    const frame = skip + (at >> 1);
    const sign = at % 2 === 0 ? 1 : -1;
    const wanted = Math.round(((mid[frame] ?? 0) + sign * (side[frame] ?? 0)) * FULL_SCALE);
    const whole = original[at] ?? 0;
    const vocal = Math.max(MIN, whole - MAX, Math.min(MAX, whole - MIN, wanted));
    vocals[at] = vocal;
    background[at] = whole - vocal;
  }
}

/** Converts to full scale 1. */
export function toFloat(samples: Int16Array, into: Float32Array): void {
  for (let at = 0; at < into.length; at += 1) into[at] = (samples[at] ?? 0) / FULL_SCALE;
}

/** Converts to 16-bit samples, limited to full scale. */
export function toInteger(samples: Float32Array): Int16Array {
  // Three times as fast as `Int16Array.from` with a function.
  const integers = new Int16Array(samples.length);
  for (let at = 0; at < samples.length; at += 1) {
    integers[at] = Math.max(MIN, Math.min(MAX, Math.round((samples[at] ?? 0) * FULL_SCALE)));
  }
  return integers;
}

/** Returns the mean of the squares, as of a window of sound. */
export function meanSquare(samples: Float32Array): number {
  let total = 0;
  for (const sample of samples) total += sample * sample;
  return total / samples.length;
}

export function addValues(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** Returns the mean, or 0 of nothing. */
export function computeMean(values: readonly number[] | Float32Array): number {
  return values.length === 0 ? 0 : addValues(values) / values.length;
}
