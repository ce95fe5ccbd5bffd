/** One measured figure with the limit that it must keep. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: '×' | 'MiB' | 'ms' | '%' | '';
  /** Left out: only told beside the others. */
  readonly limit?: { readonly atMost: number } | { readonly atLeast: number };
  /** Values between which the middle half of the rounds lay. */
  readonly spread?: readonly [number, number];
}

/** Digits behind the point that a run on a busy machine can bear out. */
const DIGITS = { '×': 2, MiB: 0, ms: 1, '%': 1, '': 0 } as const;

/** `| name | 1.42 × (1.40 to 1.47) | ≤ 1.7 × |` */
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

/** True when the value keeps its limit; a value that could not be measured (NaN) does not. */
export function keepsLimit({ value, limit }: Figure): boolean {
  if (limit === undefined) return true;
  return 'atMost' in limit ? value <= limit.atMost : value >= limit.atLeast;
}
