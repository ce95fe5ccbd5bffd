/** How fast a text is spoken so that it fits its slot: pure. Rates in words a minute, as espeak-ng counts them. */

/** An easy pace, also espeak-ng's own default is close to it. */
export const NATURAL_RATE = 165;
/** Beyond these a voice sounds drowsy or cannot be followed. */
const MIN_RATE = 130;
const MAX_RATE = 260;
/** A text much shorter than its cue is spoken more slowly, so that mouth and voice stop together. */
const SHORT_SHARE = 0.85;
/** Rates are kept to about 1 %: aim a little under the slot. */
const AIM = 0.98;

/**
 * The rate to speak again at, or null when the first try fits.
 * @param spoken length at the natural rate, in seconds
 * @param slot length of the cue, in seconds
 * @param available how long it may at most be, in seconds
 */
export function fittingRate(spoken: number, slot: number, available: number): number | null {
  if (spoken <= 0) return null;
  if (spoken > available) return clampRate((NATURAL_RATE * spoken) / (available * AIM));
  if (spoken < slot * SHORT_SHARE) return clampRate((NATURAL_RATE * spoken) / (slot * AIM));
  return null;
}

function clampRate(rate: number): number {
  return Math.round(Math.max(MIN_RATE, Math.min(MAX_RATE, rate)));
}

/** Ends of a stretched sound are not exact to the sample; this much of the slot is left free, in seconds. */
const STRETCH_MARGIN = 0.01;

/** The factor to speed a recording up by so that it fits, 1 when it does already. */
export function fittingTempo(spoken: number, available: number): number {
  if (spoken <= available) return 1;
  return spoken / Math.max(STRETCH_MARGIN, available - STRETCH_MARGIN);
}
