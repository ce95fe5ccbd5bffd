/** Formats durations and sizes for messages. */

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

export const YEAR_MS = 365 * 86_400_000;

/** Formats a duration in the largest unit that fits, rounded up: `30 s`, `5 min`, `31 d`. */
export function describeDuration(ms: number): string {
  if (ms >= YEAR_MS) return 'a year or more';
  const [unit, length] = UNITS.find(([, size]) => ms >= size) ?? ['ms', 1];
  return `${Math.ceil(ms / length)} ${unit}`;
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Formats a size in decimal units, like disks and networks: 12.3 MB. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${BYTE_UNITS[unit]}`;
}
