/** Numbers, times and paths as people read and write them. */
import { isAbsolute, relative } from 'node:path';
import { parseInstant } from '../../protocol/instant.ts';

/** 0.4 s, 12 s, 3 min 20 s, 2 h 5 min. */
export function formatDuration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|min|h|d)?$/;
const DURATION_MS = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads `90s`, `30m`, `2h`; a bare number is in seconds. Returns milliseconds; null for other text. */
export function parseDuration(text: string): number | null {
  const match = DURATION.exec(text.trim());
  if (match === null) return null;
  const unit = (match[2] ?? 's') as keyof typeof DURATION_MS; // the pattern admits only keys of the table
  return Number(match[1]) * DURATION_MS[unit];
}

/** A path for people: relative if it is below the current directory, else unchanged. */
export function showPath(path: string, cwd: string): string {
  const way = relative(cwd, path);
  return way === '' || way.startsWith('..') || isAbsolute(way) ? path : way;
}

const RELATIVE_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** `3 min ago`, `in 22 h`, `now`: in the largest unit, rounded down. */
export function formatRelative(instant: string | null, nowMs: number): string {
  const atMs = Date.parse(instant ?? '');
  if (Number.isNaN(atMs)) return '-';
  const away = Math.abs(atMs - nowMs);
  const [unit, length] = RELATIVE_UNITS.find(([, size]) => away >= size) ?? ['s', 1000];
  const count = Math.floor(away / length);
  if (count === 0) return 'now';
  return atMs > nowMs ? `in ${count} ${unit}` : `${count} ${unit} ago`;
}

/** `Nov 24, 13:12`, in the time zone of this machine. */
export function formatLocalTime(instant: string): string {
  return new Intl.DateTimeFormat('en-US', {
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(Date.parse(instant));
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** People also write a space instead of the T, and leave out the seconds. */
const INSTANT = /^(.{10})[T ](\d{2}:\d{2})(:.*?)?(Z|[+-]\d{2}:\d{2})$/i;

/**
 * Reads a moment: RFC 3339 with its zone, a date (midnight in UTC, as all times are shown), or an age (`2h`, `7d`).
 * Returns RFC 3339 in UTC; null for other text.
 */
export function parseMoment(text: string, nowMs: number): string | null {
  const ago = parseDuration(text);
  if (ago !== null && !/^[\d.]+$/.test(text.trim())) return new Date(nowMs - ago).toISOString();
  const written = text.trim();
  const [, date, minutes, seconds = ':00', zone] = INSTANT.exec(written) ?? [];
  const atMs = parseInstant(
    DATE.test(written) ? `${written}T00:00:00Z` : `${date}T${minutes}${seconds}${zone}`,
  );
  return atMs === null ? null : new Date(atMs).toISOString();
}

/** The text with a capital at its beginning and a full stop at its end. */
export function asSentence(text: string): string {
  const stop = /[.!?]$/.test(text) ? '' : '.';
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${stop}`;
}
