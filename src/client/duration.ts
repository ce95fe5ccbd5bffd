const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A length of time for people, in the largest unit that fits, rounded up: `30 s`, `5 min`, `31 d`. */
export function describeDuration(ms: number): string {
  if (!Number.isFinite(ms)) return 'for ever';
  const [unit, length] = UNITS.find(([, size]) => ms >= size) ?? ['ms', 1];
  return `${Math.ceil(ms / length)} ${unit}`;
}
