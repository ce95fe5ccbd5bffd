/** Prose broken at words, so that terminals do not break it within them. Commands stay whole: they are for pasting. */
import type { Io } from '../../commands/context/context.ts';

/** A command in backticks is one word. */
const WORDS = /(?:`[^`]*`|[^\s`])+|`/g;

/** Rows with a command at their end, or with columns. */
const NO_PROSE = /: (npx )?vloc | {2}/;

/** The width of stderr in cells; infinite where no terminal is looking. */
export function widthOf({ stderr }: Pick<Io, 'stderr'>): number {
  return stderr.isTTY === true ? (stderr.columns ?? 80) : Number.POSITIVE_INFINITY;
}

/**
 * Breaks each row of a text that is too long.
 * @param width in cells
 * @param taken cells before the first row, by which the other rows are indented
 */
export function wrapRows(text: string, width: number, taken = 0): string {
  return text
    .split('\n')
    .map((row) => (NO_PROSE.test(row) ? row : wrapProse(row, width, taken)))
    .join('\n');
}

/** Breaks one row, whatever is in it. */
export function wrapProse(row: string, width: number, taken = 0, indent = taken): string {
  if (taken + row.length <= width) return row;
  const rows: string[] = [];
  let last = '';
  for (const word of row.match(WORDS) ?? []) {
    const used = rows.length === 0 ? taken : indent;
    if (last !== '' && used + last.length + 1 + word.length > width) {
      rows.push(last);
      last = word;
    } else last = last === '' ? word : `${last} ${word}`;
  }
  return [...rows, last].join(`\n${' '.repeat(indent)}`);
}
