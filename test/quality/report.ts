/** Prints the figures of docs/quality.md. */

/** @param value printed with one decimal place */
export function report(name: string, value: number, unit: '%' | 'dB' | 'LU' | 'ms' | ''): void {
  process.stdout.write(`| ${name} | ${`${value.toFixed(1)} ${unit}`.trimEnd()} |\n`);
}

/**
 * Marks a measurement for docs/quality.md under conditions between or beside those of other tests, which show the same defects.
 * `.ci/run` leaves these tests out.
 */
export const FIGURE = { tags: ['figure'] };
