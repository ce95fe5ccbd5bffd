/** When a webhook is sent again. Source: contract, "Webhooks" (delivery). */
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits after each failed attempt; together under 20 hours, so that the last one finds the results still there. */
const WAITS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
];

/** A tenth either way, so that the events of one outage do not all come back in the same second. */
const JITTER = 0.1;

/**
 * How long to wait after a failed attempt, in ms; null after the last.
 * @param attempt the one that failed, from 1
 * @param fraction uniform in [0, 1)
 */
export function waitAfter(attempt: number, fraction: number): number | null {
  const wait = WAITS_MS[attempt - 1];
  return wait === undefined ? null : Math.round(wait * (1 + JITTER * (2 * fraction - 1)));
}
