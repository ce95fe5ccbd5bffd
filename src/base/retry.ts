/** Delays between attempts of a request. Pure: callers count their attempts and sleep. Source: design, "Transport"; RFC 9110, 10.2.3. */

import { YEAR_MS } from './amounts.ts';

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

/** The three date forms of HTTP all begin with the name of a day; `Date.parse` alone would take `-1` for a year. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}:\d{2}/;

/**
 * Milliseconds to wait, from 0 to a year; null when the header is missing or says nothing that can be understood.
 * @param value whole seconds or an HTTP-date
 * @param serverNow what the service thinks the time is, in milliseconds: a date is measured from it
 */
export function parseRetryAfter(value: string | undefined, serverNow: number): number | null {
  const text = value?.trim() ?? '';
  const date = /^\d+$/.test(text) ? serverNow + Number(text) * 1000 : parseHttpDate(text);
  return date === null ? null : Math.min(YEAR_MS, Math.max(0, date - serverNow));
}

/** The same from the headers of an answer; `now` replaces a missing `Date`. */
export function retryAfterOf(headers: Readonly<Record<string, string>>, now: number): number | null {
  return parseRetryAfter(headers['retry-after'], parseHttpDate(headers.date) ?? now);
}

/** Milliseconds since the epoch, or null for anything that is not an HTTP-date. */
export function parseHttpDate(value: string | undefined): number | null {
  if (value === undefined || !HTTP_DATE.test(value)) return null;
  // The oldest form carries no zone, and all of them mean UTC.
  const parsed = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  return Number.isNaN(parsed) ? null : parsed;
}
