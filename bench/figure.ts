/** One measured figure and its limit. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: '×' | 'MiB' | 'ms' | '%' | '';
  /** Optional: without it, the figure is only printed. */
  readonly limit?: { readonly atMost: number } | { readonly atLeast: number };
  /** The range that contains the middle half of the rounds. */
  readonly spread?: readonly [number, number];
}

/** Decimal places that are still reliable on a busy machine. */
const DIGITS = { '×': 2, MiB: 0, ms: 1, '%': 1, '': 0 } as const;

/** Formats as `| name | 1.42 × (1.40 to 1.47) | ≤ 1.7 × |`. */
export function figureRow({ name, value, unit, limit, spread }: Figure): string {
  const digits = DIGITS[unit];
  const withUnit = (number: string | number) => `${number} ${unit}`.trimEnd();
  const range = spread === undefined ? '' : ` (${spread.map((end) => end.toFixed(digits)).join(' to ')})`;
  return `| ${name} | ${withUnit(value.toFixed(digits))}${range} | ${describeLimit(limit, withUnit)} |`;
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
