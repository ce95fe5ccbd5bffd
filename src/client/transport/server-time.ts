/**
 * Times that the service states: Retry-After, and `Date`, which shows a wrong clock of this machine.
 * Source: specification, "Errors"; RFC 9110, 10.2.3.
 */

/** The three date forms of HTTP all begin with the name of a day; `Date.parse` alone would take `-1` for a year. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}:\d{2}/;

/**
 * Milliseconds to wait, never negative; null when the header is missing or says nothing that can be understood.
 * @param value whole seconds or an HTTP-date
 * @param serverNow what the service thinks the time is, in milliseconds: a date is measured from it
 */
export function parseRetryAfter(value: string | undefined, serverNow: number): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = parseHttpDate(text);
  return date === null ? null : Math.max(0, date - serverNow);
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

/** Below this the clock is not the reason: the service allows 300 s, and `Date` has whole seconds. Source: contract. */
export const SKEW_THRESHOLD_MS = 60_000;

/**
 * The offset to add to the local clock, in milliseconds, or null when the clock is not to blame.
 * @param answer the refused request's answer: `date` is its header, `aged` that it came from a cache, so the date is old
 * @param offsetUsed the offset that the refused request was signed with
 */
export function detectSkew(
  answer: { status: number; date: string | undefined; aged: boolean },
  localNow: number,
  offsetUsed: number,
): number | null {
  if (answer.status !== 401 || answer.aged) return null;
  const serverNow = parseHttpDate(answer.date);
  if (serverNow === null) return null;
  const offset = serverNow - localNow;
  return Math.abs(offset - offsetUsed) > SKEW_THRESHOLD_MS ? offset : null;
}

export interface ServerClock {
  /** Milliseconds since the epoch as the service sees them. */
  now(): number;
  readonly offset: number;
  /** True when this is news: several calls refused together report the same skew. */
  correct(offset: number): boolean;
}

/** A clock that starts out trusting the machine. */
export function createClock(localNow: () => number): ServerClock {
  let offset = 0;
  return {
    now: () => localNow() + offset,
    get offset() {
      return offset;
    },
    correct(next) {
      const news = Math.abs(next - offset) > SKEW_THRESHOLD_MS;
      offset = next;
      return news;
    },
  };
}
