/** One measured figure with the limit that it must not pass. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly unit: '×' | 'MiB';
}

/** `| name | 1.42 × | ≤ 1.7 × |` */
export function figureRow({ name, value, limit, unit }: Figure): string {
  const digits = unit === '×' ? 2 : 0;
  return `| ${name} | ${value.toFixed(digits)} ${unit} | ≤ ${limit} ${unit} |`;
}
