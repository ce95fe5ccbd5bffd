/** When to look again at something that is being worked on. Source: performance figures, "Waiting". */

/** What was seen of a job, and when, in milliseconds of any clock. */
export interface Sighting {
  readonly atMs: number;
  /** 0 to 100. */
  readonly progress: number;
}

/** A job of seconds is looked at twice a second while it is young. */
const FIRST_MS = 500;
const YOUNG_MS = 5_000;
const SHORTEST_MS = 1_000;
const LONGEST_MS = 15_000;

/** A little before the expected end: too early costs one more request, too late costs the user's time. */
const SHARE_OF_REMAINDER = 0.9;

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** Grows with the time already waited, so that looking costs half of it at most: without a better sign. */
export function growingDelay(elapsedMs: number, longestMs: number = LONGEST_MS): number {
  return clamp(elapsedMs / 2, FIRST_MS, longestMs);
}

/**
 * Milliseconds until the next look, by how fast the job came forward between two sightings.
 * @param begun the first sighting in the present state
 * @param moved the sighting at which the progress last changed
 * @param nowMs on the same clock
 */
export function nextPollDelay(begun: Sighting, moved: Sighting, nowMs: number): number {
  const elapsed = nowMs - begun.atMs;
  const done = moved.progress - begun.progress;
  if (done <= 0 || moved.atMs <= begun.atMs) return growingDelay(elapsed);
  const perPercent = (moved.atMs - begun.atMs) / done;
  const expectedEnd = moved.atMs + (100 - moved.progress) * perPercent;
  const shortest = elapsed < YOUNG_MS ? FIRST_MS : SHORTEST_MS;
  // Standing still past the expected end, it may stand for long: look less and less often.
  const overdue = Math.max(0, nowMs - expectedEnd) / 2;
  return clamp(Math.max(SHARE_OF_REMAINDER * (expectedEnd - nowMs), overdue), shortest, LONGEST_MS);
}
