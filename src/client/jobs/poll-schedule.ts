/** When to poll: pure. Source: performance figures, "Waiting". */

/** A new job, which may take only seconds, is polled twice a second. */
const FIRST_MS = 500;
/** Of several jobs one or another ends all the time, and polling more often brings no visible gain. */
const SHORTEST_MS = 1_000;
/** With jobs of two minutes in fifteen slots: 1.9 requests for each job, and all of them take 1.02 times as long. */
const LONGEST_MS = 5_300;

/** Half of the time already waited: a result is noticed late by at most half of its duration, and by the longest pause. */
export function growingPause(elapsedMs: number): number {
  return clamp(elapsedMs / 2, FIRST_MS, LONGEST_MS);
}

/** More would notice the end of jobs of seconds hardly sooner. */
const POLLS_PER_JOB = 14;

/**
 * Milliseconds between two polls of several jobs: 1 to 5 s.
 * @param typicalMs how long jobs have taken; 0 before the first one has ended
 * @param quietMs for how long none has ended
 */
export function sharedPause(typicalMs: number, quietMs: number): number {
  return clamp(Math.max(typicalMs, quietMs) / POLLS_PER_JOB, SHORTEST_MS, LONGEST_MS);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
