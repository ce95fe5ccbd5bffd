/** Players that run side by side drift; this says how one that follows is brought back. */

/** Below what an eye sees as out of step: some two pictures at 25 a second. */
const TOLERATED_SECONDS = 0.08;
/** A seek interrupts the picture, so small drift is made up by running a little faster or slower. */
const SEEK_FROM_SECONDS = 0.35;
/** A twentieth makes up a quarter of a second in five; on a muted picture nobody notices. */
const NUDGE = 0.05;

type Correction =
  | { readonly type: 'none' }
  | { readonly type: 'seek'; readonly to: number }
  /** Factor of the common speed. */
  | { readonly type: 'rate'; readonly factor: number }
  /** The leader is beyond the end of this one. */
  | { readonly type: 'rest' };

/** All times in seconds; `duration` may be NaN while it is unknown. */
export function correct(leader: number, follower: number, duration: number): Correction {
  if (leader >= duration) return { type: 'rest' };
  const behind = leader - follower;
  if (Math.abs(behind) >= SEEK_FROM_SECONDS) return { type: 'seek', to: leader };
  if (Math.abs(behind) <= TOLERATED_SECONDS) return { type: 'none' };
  return { type: 'rate', factor: behind > 0 ? 1 + NUDGE : 1 - NUDGE };
}
