/** The waveform of a track as an SVG path. */

/** Decodes Base64; null if invalid. */
export function decodePeaks(base64: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

/** Half the height of the drawing. The width is the number of peaks. */
export const WAVE_HALF = 50;

/** Minimum, so that silence is visible as a line. */
const LEAST = 0.5;

/** A closed path around the middle. @param loudest the peak that would reach the edge: that of all tracks of a video */
export function drawWave(peaks: Uint8Array, loudest: number): string {
  const heights = Array.from(peaks, (peak) => Math.max(LEAST, (peak / loudest) * WAVE_HALF));
  const above = heights.map((height, at) => `${at} ${round(WAVE_HALF - height)}`);
  const below = heights.map((height, at) => `${at} ${round(WAVE_HALF + height)}`).reverse();
  return `M${[...above, ...below].join('L')}Z`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
