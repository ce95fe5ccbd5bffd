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
/** Looking more often than this would gain nothing that anybody sees. */
export const SHORTEST_MS = 1_000;
export const LONGEST_MS = 15_000;

/** A little before the expected end: too early costs one more request, too late costs the user's time. */
const SHARE_OF_REMAINDER = 0.9;

export function clamp(value: number, low: number, high: number): number {
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
  const end = expectEnd(begun, moved);
  if (end === null) return growingDelay(elapsed);
  return delayUntil(end, nowMs, elapsed < YOUNG_MS ? FIRST_MS : SHORTEST_MS);
}

/** The instant of the end at the speed between two sightings; null when the job did not come forward. */
export function expectEnd(from: Sighting, to: Sighting): number | null {
  const done = to.progress - from.progress;
  if (done <= 0 || to.atMs <= from.atMs) return null;
  return to.atMs + ((100 - to.progress) * (to.atMs - from.atMs)) / done;
}

/** Milliseconds until the next look at a job with this expected end: `shortestMs` to fifteen seconds. */
export function delayUntil(expectedEndMs: number, nowMs: number, shortestMs: number = SHORTEST_MS): number {
  // Standing still past the expected end, it may stand for long: look less and less often.
  const overdue = Math.max(0, nowMs - expectedEndMs) / 2;
  return clamp(Math.max(SHARE_OF_REMAINDER * (expectedEndMs - nowMs), overdue), shortestMs, LONGEST_MS);
}
