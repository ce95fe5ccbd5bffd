/** Decides how a player that has drifted from the leading one catches up. */

/** Drift that viewers do not notice: about two frames at 25 per second. */
const TOLERATED_SECONDS = 0.08;
/** Smaller drift is corrected by playing faster or slower, since a seek interrupts the picture. */
const SEEK_FROM_SECONDS = 0.35;
/** One twentieth corrects a quarter of a second in five seconds, unnoticed on a muted video. */
const NUDGE = 0.05;

type Correction =
  | { readonly type: 'none' }
  | { readonly type: 'seek'; readonly to: number }
  /** Playback rate relative to the leader. */
  | { readonly type: 'rate'; readonly factor: number }
  /** The leader is past the end of this player. */
  | { readonly type: 'rest' };

/** All times in seconds; `duration` may be NaN while it is unknown. */
export function correctDrift(leader: number, follower: number, duration: number): Correction {
  if (leader >= duration) return { type: 'rest' };
  const behind = leader - follower;
  if (Math.abs(behind) >= SEEK_FROM_SECONDS) return { type: 'seek', to: leader };
  if (Math.abs(behind) <= TOLERATED_SECONDS) return { type: 'none' };
  return { type: 'rate', factor: behind > 0 ? 1 + NUDGE : 1 - NUDGE };
}

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
