/** The only parser of points in time from callers, options and files. Source: RFC 3339. */

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

/**
 * Parses a date and time with a time zone, in ms since 1970. Returns null for other texts and for dates that do not
 * exist, such as February 30. Rounds up to whole milliseconds, as records have, so that comparisons with them are exact.
 */
export function parseInstant(text: string): number | null {
  const match = INSTANT.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  if (day < 1 || day > daysIn(year, month)) return null;
  const [, , , , , , , fraction = '', sign, zoneHours, zoneMinutes] = match;
  const east = (sign === '-' ? -1 : 1) * (Number(zoneHours ?? 0) * 60 + Number(zoneMinutes ?? 0));
  const minutes = hour * 60 + minute - east;
  // A leap second is the last one of a day in UTC. Unix time counts it as the first of the next day.
  if (second === 60 && (minutes + 2 * DAY_MINUTES) % DAY_MINUTES !== DAY_MINUTES - 1) return null;
  const milliseconds = Math.ceil(Number(`0.${fraction}0`) * 1000);
  return dayStart(year, month, day) + minutes * MINUTE_MS + second * 1000 + milliseconds;
}

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
}

/** `Date.UTC` would read the years 0 to 99 as 1900 to 1999. */
function dayStart(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day);
}
