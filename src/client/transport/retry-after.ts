/** The `Retry-After` header. Source: specification, "Errors"; RFC 9110, 10.2.3. */

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

/** The same from the headers of an answer; `now` stands in for a missing `Date`. */
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
