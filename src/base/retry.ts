/** Delays between attempts of a request. Pure: callers count their attempts and sleep. Source: design, "Transport". */

/** First ceiling: long enough for a restarted process to listen again. */
const BACKOFF_BASE_MS = 500;
/** Last ceiling: a longer wait would not help and only delay the result. */
const BACKOFF_CAP_MS = 20_000;

/** The longest wait after this number of failed attempts, in ms: doubles from the base up to the cap. */
export function backoffCeiling(failedAttempts: number): number {
  return Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** (failedAttempts - 1));
}

/**
 * Full jitter: uniform between 0 and the ceiling, so that many clients do not return together.
 * @param failedAttempts from 1
 * @param random uniform in [0, 1)
 * @returns ms
 */
export function backoffDelay(failedAttempts: number, random: () => number): number {
  return random() * backoffCeiling(failedAttempts);
}

/**
 * The delay that a server asked for with Retry-After: never early, and a little late, so that clients with the same
 * Retry-After do not all return in the same second.
 * @param askedMs in ms
 * @param maxWaitMs the longest delay, in ms
 * @param random uniform in [0, 1)
 */
export function askedDelay(askedMs: number, maxWaitMs: number, random: () => number): number {
  return Math.min(maxWaitMs, askedMs + random() * BACKOFF_BASE_MS);
}
