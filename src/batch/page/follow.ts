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
export function correct(leader: number, follower: number, duration: number): Correction {
  if (leader >= duration) return { type: 'rest' };
  const behind = leader - follower;
  if (Math.abs(behind) >= SEEK_FROM_SECONDS) return { type: 'seek', to: leader };
  if (Math.abs(behind) <= TOLERATED_SECONDS) return { type: 'none' };
  return { type: 'rate', factor: behind > 0 ? 1 + NUDGE : 1 - NUDGE };
}
