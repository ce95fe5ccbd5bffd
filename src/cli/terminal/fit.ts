/** Cells cut so that a table fits its terminal, measured in cells of the screen and not in characters. */

/** Measures the width of text on a terminal, in cells. */
type Measure = (text: string) => number;

const ASCII = /^[\x20-\x7e]*$/;

/**
 * A measure for these texts and their parts. ASCII needs no tables of Unicode, whose loading takes longer than a short
 * command.
 */
export async function loadMeasure(texts: readonly string[]): Promise<Measure> {
  if (texts.every((text) => ASCII.test(text))) return (text) => text.length;
  return (await import('string-width')).default;
}

/** Whether a column may be shortened: 0 never, the highest number first. */
interface ColumnLimit {
  readonly title: string;
  readonly shrinks: number;
  /** Cells below which it is hard to read. */
  readonly least?: number;
  /** Dropped before others become hard to read. */
  readonly drops?: boolean;
}

/** Narrower cells cannot be distinguished. */
const NARROWEST = 5;

/** At this width file names can still be distinguished. */
const READABLE = 20;

/** Blanks between two columns. */
export const GAP = 2;

/** The positions of the columns that have room; optional ones are dropped only where others would be unreadable. */
export function chooseColumns(
  columns: readonly ColumnLimit[],
  rows: readonly (readonly string[])[],
  width: number,
  measure: Measure,
): readonly number[] {
  const all = columns.map((_, at) => at);
  const needed = columns.map(({ title, shrinks, least = READABLE }, at) => {
    const present = Math.max(measure(title), ...rows.map((row) => measure(row[at] ?? '')));
    return shrinks > 0 ? Math.min(present, Math.max(least, measure(title))) : present;
  });
  const total = needed.reduce((sum, each) => sum + each, GAP * (columns.length - 1));
  return total <= width ? all : all.filter((at) => columns[at]?.drops !== true);
}

/**
 * Shortens cells with `…` until the rows fit; columns that may not be shortened keep their cells, even where they do not fit.
 * @param width in cells; infinite where no terminal is looking
 */
export function fitRows(
  columns: readonly ColumnLimit[],
  rows: readonly (readonly string[])[],
  width: number,
  measure: Measure,
): readonly (readonly string[])[] {
  const widths = columns.map(({ title }, at) =>
    Math.max(measure(title), ...rows.map((row) => measure(row[at] ?? ''))),
  );
  let excess = widths.reduce((sum, each) => sum + each, GAP * (columns.length - 1)) - width;
  const order = [...columns.entries()]
    .filter(([, column]) => column.shrinks > 0)
    .sort(([, left], [, right]) => right.shrinks - left.shrinks);
  for (const [at, { title, least }] of order) {
    const present = widths[at] ?? 0;
    const narrowest = Math.min(present, Math.max(least ?? NARROWEST, measure(title)));
    const wanted = Math.max(narrowest, present - Math.max(0, excess));
    excess -= present - wanted;
    widths[at] = wanted;
  }
  return rows.map((row) => row.map((cell, at) => shortenText(cell, widths[at] ?? 0, measure)));
}

/** The beginning of a text that fits, with `…` where something is missing; never half a character. */
export function shortenText(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (measure(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
