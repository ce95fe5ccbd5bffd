/** Which share of each frequency is voice. */
import { BINS, type Spectrum, WINDOW } from './spectrum.ts';

/** Keeps divisions by silence finite; far below the smallest 16-bit sample. */
const TINY = 1e-12;

/**
 * The mask of one spectrum, 0 to 1 for each frequency: how much it lies in the middle of the stereo image, where voices
 * are mixed, times the root of the share that RNNoise lets through. Of a mono input everything lies in the middle.
 * @param mixed spectrum of `mid + i·side`
 * @param voice spectrum of the denoised mid signal
 */
export function voiceMask(mixed: Spectrum, voice: Spectrum, into: Float32Array): void {
  for (let bin = 0; bin < BINS; bin += 1) {
    // The spectra of two real signals in one: the even part belongs to the first, the odd part to the second.
    const mirror = bin === 0 ? 0 : WINDOW - bin;
    const re = mixed[2 * bin] ?? 0;
    const im = mixed[2 * bin + 1] ?? 0;
    const mirrorRe = mixed[2 * mirror] ?? 0;
    const mirrorIm = mixed[2 * mirror + 1] ?? 0;
    const mid = ((re + mirrorRe) ** 2 + (im - mirrorIm) ** 2) / 4;
    const side = ((re - mirrorRe) ** 2 + (im + mirrorIm) ** 2) / 4;
    const centre = Math.max(0, (mid - side) / (mid + side + TINY));
    const passed = Math.hypot(voice[2 * bin] ?? 0, voice[2 * bin + 1] ?? 0);
    const stopped = Math.max(0, Math.sqrt(mid) - passed);
    into[bin] = centre * Math.sqrt(passed / (passed + stopped + TINY));
  }
}

/** Recognition is worse on a voice with holes: its mask never falls below this. Found by word error rates. */
const RECOGNITION_FLOOR = 0.2;

/** Gains for the vocal track: the mask, faded towards 1 by `weight` (0: no masking). */
export function vocalGains(mask: Float32Array, weight: number, into: Float32Array): void {
  for (let bin = 0; bin < BINS; bin += 1) into[bin] = 1 - weight * (1 - (mask[bin] ?? 0));
}

/** Gains for the voice that recognition hears: the same with a floor. */
export function recognitionGains(mask: Float32Array, weight: number, into: Float32Array): void {
  for (let bin = 0; bin < BINS; bin += 1) {
    into[bin] = 1 - weight * (1 - Math.max(RECOGNITION_FLOOR, mask[bin] ?? 0));
  }
}
