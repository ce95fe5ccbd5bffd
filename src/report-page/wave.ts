/** The waveform of a track as a path. */

/** The bytes behind Base64; null for what is none. */
export function decodePeaks(base64: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

/** Half the height of the drawing; its width is the number of peaks. */
export const WAVE_HALF = 50;

/** So that silence is a line and not nothing. */
const LEAST = 0.5;

/** A closed shape around the middle, scaled so that the loudest peak reaches the edge: what matters is the form. */
export function drawWave(peaks: Uint8Array): string {
  const loudest = Math.max(1, ...peaks);
  const heights = Array.from(peaks, (peak) => Math.max(LEAST, (peak / loudest) * WAVE_HALF));
  const above = heights.map((height, at) => `${at} ${round(WAVE_HALF - height)}`);
  const below = heights.map((height, at) => `${at} ${round(WAVE_HALF + height)}`).reverse();
  return `M${[...above, ...below].join('L')}Z`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
