/** One measured figure and its limit. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: '×' | 'MiB' | 'ms' | '%' | '';
  /** Optional: without it, the figure is only printed. */
  readonly limit?: { readonly atMost: number } | { readonly atLeast: number };
  /** The range that contains the middle half of the rounds. */
  readonly spread?: readonly [number, number];
  /**
   * Smallest and largest value that is physically possible on any machine, however busy. A value outside means that the
   * bench did not measure what the name says.
   */
  readonly plausible: readonly [number, number];
}

/** Plausible range of a number of errors among so many. */
export const upTo = (count: number): readonly [number, number] => [0, count];
/** Plausible range of a time in milliseconds: from a microsecond to an hour. */
export const ANY_TIME_MS = [0.001, 3_600_000] as const;
/** Plausible range of the memory of a process that runs Node, in MiB. */
export const NODE_MEMORY_MIB = [20, 16_384] as const;
/** Plausible range of a rate per second. */
export const ANY_RATE = [0.01, 1e6] as const;

/** Decimal places that are still reliable on a busy machine. */
const DIGITS = { '×': 2, MiB: 0, ms: 1, '%': 1, '': 0 } as const;

/** Formats as `| name | ≤ 1.7 × | 1.42 × (1.40 to 1.47) |`. */
export function figureRow({ name, value, unit, limit, spread }: Figure): string {
  const digits = DIGITS[unit];
  const withUnit = (number: string | number) => `${number} ${unit}`.trimEnd();
  const range = spread === undefined ? '' : ` (${spread.map((end) => end.toFixed(digits)).join(' to ')})`;
  return `| ${name} | ${describeLimit(limit, withUnit)} | ${withUnit(value.toFixed(digits))}${range} |`;
}

function describeLimit(limit: Figure['limit'], withUnit: (number: number) => string): string {
  if (limit === undefined) return '';
  return 'atMost' in limit ? `≤ ${withUnit(limit.atMost)}` : `≥ ${withUnit(limit.atLeast)}`;
}

/** Returns true if the value is within its limit; false if it could not be measured (NaN). */
export function keepsLimit({ value, limit }: Figure): boolean {
  if (limit === undefined) return true;
  return 'atMost' in limit ? value <= limit.atMost : value >= limit.atLeast;
}

/** Returns false if the value is physically impossible or could not be measured (NaN). */
export function isPlausible({ value, plausible: [least, most] }: Figure): boolean {
  return value >= least && value <= most;
}
