/** Computes short-time spectra of two real signals with one transform, and the inverse. */
import FFT from 'fft.js';

/** Samples in a spectrum: 43 ms at 48 kHz, long enough to separate harmonics, short enough for consonants. */
export const WINDOW = 2048;
/** Samples between two spectra. With a quarter of the window, overlapping windows add up evenly. */
export const HOP = 512;
export const BINS = WINDOW / 2 + 1;

/** Interleaved real and imaginary parts of all 2048 frequencies. */
export type Spectrum = Float64Array;

/** Four windows overlap at every position, and their squares add up to two. */
const OVERLAP_GAIN = 0.5;

/** A gain for each frequency of the first signal, and one for each of the second. */
export interface Gains {
  readonly first: Float32Array;
  readonly second: Float32Array;
  /** Angle by which both are turned after that; see `turnSpectrum`. Default: 0. */
  readonly turn?: number;
}

interface Transform {
  /** Computes the windowed spectrum of `first + i·second`, read from `offset` on. */
  forward(first: Float32Array, second: Float32Array, offset: number, into: Spectrum): void;
  /** Computes the lower half of the windowed spectrum of one signal: the other half mirrors it. */
  forwardReal(signal: Float32Array, offset: number, into: Spectrum): void;
  /**
   * Scales each frequency of both signals by their gains, transforms back to samples and adds them to the existing
   * ones. One transform can process two signals because the gains are real.
   */
  addInverse(
    spectrum: Spectrum,
    gains: Gains,
    first: Float32Array,
    second: Float32Array | null,
    offset: number,
  ): void;
}

/** Creates a transform with its tables and buffers. It can process any number of signals, one after the other. */
export function createTransform(): Transform {
  const fft = new FFT(WINDOW);
  const window = Float64Array.from({ length: WINDOW }, (_, at) => Math.sin((Math.PI * (at + 0.5)) / WINDOW));
  const time = new Float64Array(2 * WINDOW);
  const real = new Float64Array(WINDOW);
  const scaled = new Float64Array(2 * WINDOW);
  return {
    forward(first, second, offset, into) {
      for (let at = 0; at < WINDOW; at += 1) {
        const weight = window[at] ?? 0;
        time[2 * at] = (first[offset + at] ?? 0) * weight;
        time[2 * at + 1] = (second[offset + at] ?? 0) * weight;
      }
      fft.transform(into, time);
    },
    forwardReal(signal, offset, into) {
      for (let at = 0; at < WINDOW; at += 1) real[at] = (signal[offset + at] ?? 0) * (window[at] ?? 0);
      fft.realTransform(into, real);
    },
    addInverse(spectrum, gains, first, second, offset) {
      for (let at = 0; at < WINDOW; at += 1) {
        const mirror = at === 0 ? 0 : WINDOW - at;
        const bin = Math.min(at, mirror); // the upper half mirrors the lower
        const firstGain = gains.first[bin] ?? 0;
        const secondGain = gains.second[bin] ?? 0;
        // The even part of the spectrum belongs to the first signal, the odd part to the second.
        const own = (firstGain + secondGain) / 2;
        const mirrored = (firstGain - secondGain) / 2;
        scaled[2 * at] = (spectrum[2 * at] ?? 0) * own + (spectrum[2 * mirror] ?? 0) * mirrored;
        scaled[2 * at + 1] = (spectrum[2 * at + 1] ?? 0) * own - (spectrum[2 * mirror + 1] ?? 0) * mirrored;
      }
      if (gains.turn) turnSpectrum(scaled, gains.turn);
      fft.inverseTransform(time, scaled);
      for (let at = 0; at < WINDOW; at += 1) {
        const weight = (window[at] ?? 0) * OVERLAP_GAIN;
        first[offset + at] = (first[offset + at] ?? 0) + (time[2 * at] ?? 0) * weight;
        if (second !== null)
          second[offset + at] = (second[offset + at] ?? 0) + (time[2 * at + 1] ?? 0) * weight;
      }
    },
  };
}

/**
 * Turns two signals that share a spectrum as one turns a point on a plane: with π/4, equal signals become the first alone. The
 * opposite angle turns them back.
 */
export function turnSpectrum(spectrum: Spectrum, angle: number): void {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  for (let at = 0; at < spectrum.length; at += 2) {
    const re = spectrum[at] ?? 0;
    const im = spectrum[at + 1] ?? 0;
    spectrum[at] = re * cos + im * sin;
    spectrum[at + 1] = im * cos - re * sin;
  }
}

/**
 * Computes the amplitudes of the two signals that share a spectrum, for each frequency: the even part of the spectrum
 * belongs to the first, the odd part to the second.
 */
export function computeAmplitudes(spectrum: Spectrum, first: Float32Array, second: Float32Array): void {
  for (let bin = 0; bin < BINS; bin += 1) {
    const mirror = bin === 0 ? 0 : WINDOW - bin;
    const re = spectrum[2 * bin] ?? 0;
    const im = spectrum[2 * bin + 1] ?? 0;
    const mirrorRe = spectrum[2 * mirror] ?? 0;
    const mirrorIm = spectrum[2 * mirror + 1] ?? 0;
    first[bin] = Math.sqrt((re + mirrorRe) ** 2 + (im - mirrorIm) ** 2) / 2;
    second[bin] = Math.sqrt((re - mirrorRe) ** 2 + (im + mirrorIm) ** 2) / 2;
  }
}
