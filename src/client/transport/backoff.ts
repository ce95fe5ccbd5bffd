/** How long to wait before the next attempt when nobody says. Source: design, "Transport". */

/** First ceiling: long enough for a restarted process to listen again. */
export const BACKOFF_BASE_MS = 500;
/** Last ceiling: beyond it a person waits for nothing. */
export const BACKOFF_CAP_MS = 20_000;

/** The most that may be waited after so many failed attempts: doubles from the base up to the cap. */
export function backoffCeiling(failedAttempts: number): number {
  return Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** (failedAttempts - 1));
}

/**
 * Full jitter: uniform between nothing and the ceiling, so that many clients do not come back together.
 * @param failedAttempts from 1
 * @param random uniform in [0, 1)
 */
export function backoffDelay(failedAttempts: number, random: () => number): number {
  return random() * backoffCeiling(failedAttempts);
}
