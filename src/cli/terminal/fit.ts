/** Columns and cells that fit the terminal, measured in cells of the screen and not in characters. */
import stringWidth from 'string-width';

/** See `TableHead`. */
interface ColumnLimit {
  readonly title: string;
  readonly wraps?: number;
  readonly drops?: number;
  readonly cells?: number;
}

/** Blanks between two columns. */
export const GAP = 2;

/**
 * Chooses the columns of a table, and how wide each is.
 * @param width in cells; infinite where no terminal is looking
 * @returns widths in cells by position, without the columns that are dropped; null if those that stay do not fit
 */
export function chooseWidths(
  columns: readonly ColumnLimit[],
  rows: readonly (readonly string[])[],
  width: number,
): ReadonlyMap<number, number> | null {
  let kept = columns.map(({ drops = 0, wraps, cells = 0, ...column }, at) => {
    const title = Math.max(cells, stringWidth(column.title));
    const whole = rows.reduce((widest, row) => Math.max(widest, stringWidth(row[at] ?? '')), title);
    return { at, drops, wraps, title, whole };
  });
  const sumOf = (cells: readonly number[]) =>
    cells.reduce((sum, each) => sum + each, GAP * (cells.length - 1));
  const leastOf = ({ at, title, whole, wraps, drops }: (typeof kept)[number]) => {
    // The terminal itself breaks the last one: a command in it stays whole for pasting.
    const isBrokenByTerminal = at === columns.length - 1 && drops === 0;
    return Math.min(whole, Math.max(title, wraps ?? (isBrokenByTerminal ? 0 : whole)));
  };
  const isTooWide = () => sumOf(kept.map(leastOf)) > width;
  for (const { at, drops } of kept.toSorted((one, other) => other.drops - one.drops)) {
    if (drops > 0 && isTooWide()) kept = kept.filter((column) => column.at !== at);
  }
  if (isTooWide()) return null;
  const widths = new Map(kept.map(({ at, whole }) => [at, whole]));
  let excess = sumOf([...widths.values()]) - width;
  for (const column of kept.toSorted((one, other) => other.whole - one.whole)) {
    if (column.wraps === undefined) continue;
    const cells = Math.max(leastOf(column), column.whole - Math.max(0, excess));
    excess -= column.whole - cells;
    widths.set(column.at, cells);
  }
  return widths;
}

/** The text in lines that fit: broken at a blank or after a slash if there is one, else between two characters. */
export function wrapCell(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let rest = text;
  while (stringWidth(rest) > width) {
    const [first = ''] = rest;
    // One character may be wider than the column, in Thai for example.
    const begin = takeBeginning(rest, width) || first;
    const end = Math.max(rest.lastIndexOf(' ', begin.length), begin.lastIndexOf('/')) + 1 || begin.length;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end);
  }
  return [...lines, rest];
}

/** The beginning of a text that fits, with `…` where something is missing; never half a character. */
export function shortenText(text: string, width: number): string {
  return stringWidth(text) <= width ? text : `${takeBeginning(text, width - 1)}…`;
}

function takeBeginning(text: string, width: number): string {
  let taken = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(taken + segment) > width) break;
    taken += segment;
  }
  return taken;
}
