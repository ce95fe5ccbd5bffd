/** Keeps the peaks of a sound below full scale. */

/** Peaks between the samples at 48 kHz show at four times the rate. Source: ITU-R BS.1770, true peak. */
const RATE = 192_000;
/**
 * A share of full scale: true peaks stay 1 dB below it (EBU R 128), because AAC raises them a little. A tenth of a decibel is for
 * the way back to 48 kHz.
 */
export const HIGHEST_PEAK = 0.88;

/**
 * Filters that keep true peaks at -1 dBTP, and all samples at their times. They return the sound at 48 kHz. `level=0` keeps the
 * limiter from raising the rest.
 */
export const LIMITER = limitPeaks(HIGHEST_PEAK);

/** The same for another share of full scale. */
export function limitPeaks(share: number): string {
  return `aresample=${RATE},alimiter=limit=${share}:level=0:attack=5:latency=1,aresample=48000`;
}
