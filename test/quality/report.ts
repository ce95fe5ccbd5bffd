/** Prints figures as rows of the tables in docs/quality.md. */

/** @param value printed with one decimal place */
export function report(name: string, value: number, unit: '%' | 'dB' | 'LU' | 'ms' | ''): void {
  process.stdout.write(`| ${name} | ${`${value.toFixed(1)} ${unit}`.trimEnd()} |\n`);
}
