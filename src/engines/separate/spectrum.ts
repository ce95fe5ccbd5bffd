/** Short-time spectra of two real signals at once, and back. */
import FFT from 'fft.js';

/** Samples in a spectrum: 43 ms at 48 kHz, fine enough to part harmonics, short enough for consonants. */
export const WINDOW = 2048;
/** Samples between two spectra; a quarter makes the overlapping windows add up evenly. */
export const HOP = 512;
export const BINS = WINDOW / 2 + 1;

/** Interleaved real and imaginary parts of all 2048 frequencies. */
export type Spectrum = Float64Array;

/** Four windows overlap at every place, and the squares of these add up to two. */
const OVERLAP_GAIN = 0.5;

export interface Transform {
  /** The spectrum of `first + i·second`, windowed, read from `offset` on. */
  forward(first: Float32Array, second: Float32Array | null, offset: number, into: Spectrum): void;
  /**
   * Scales each frequency of the spectrum by its gain, goes back to time and adds both signals to what is there.
   * A gain is real and the same for both signals, which is why one transform carries two.
   */
  addInverse(
    spectrum: Spectrum,
    gains: Float32Array,
    first: Float32Array,
    second: Float32Array | null,
    offset: number,
  ): void;
}

/** A transform with its tables and buffers; one serves any number of signals, one after the other. */
export function createTransform(): Transform {
  const fft = new FFT(WINDOW);
  const window = Float64Array.from({ length: WINDOW }, (_, at) => Math.sin((Math.PI * (at + 0.5)) / WINDOW));
  const time = new Float64Array(2 * WINDOW);
  const scaled = new Float64Array(2 * WINDOW);
  return {
    forward(first, second, offset, into) {
      for (let at = 0; at < WINDOW; at += 1) {
        const weight = window[at] ?? 0;
        time[2 * at] = (first[offset + at] ?? 0) * weight;
        time[2 * at + 1] = second === null ? 0 : (second[offset + at] ?? 0) * weight;
      }
      fft.transform(into, time);
    },
    addInverse(spectrum, gains, first, second, offset) {
      for (let at = 0; at < WINDOW; at += 1) {
        const gain = gains[at < BINS ? at : WINDOW - at] ?? 0; // the upper half mirrors the lower
        scaled[2 * at] = (spectrum[2 * at] ?? 0) * gain;
        scaled[2 * at + 1] = (spectrum[2 * at + 1] ?? 0) * gain;
      }
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
