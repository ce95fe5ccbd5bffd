/** Tables on stdout. On a terminal they fit its width; elsewhere every cell is whole. */
import type { TableHead } from '../../commands/context/context.ts';
import { escapeControls } from './escape.ts';
import { chooseColumns, fitRows, GAP, loadMeasure } from './fit.ts';
import type { Style } from './style.ts';

interface TableOptions {
  /** In cells; infinite without it. */
  readonly width?: number;
  readonly style?: Pick<Style, 'good' | 'bad'>;
}

/** Lays out rows under a head; every cell is escaped. */
export async function layOut(
  head: readonly TableHead[],
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, style }: TableOptions = {},
): Promise<string> {
  const all = head.map((each) => ({
    shrinks: 0,
    status: false,
    ...(typeof each === 'string' ? { title: each } : each),
  }));
  const whole = rows.map((row) => row.map(escapeControls));
  const measure = await loadMeasure([...all.map(({ title }) => title), ...whole.flat()]);
  const kept = chooseColumns(all, whole, width, measure);
  const columns = all.filter((_, at) => kept.includes(at));
  const escaped = whole.map((row) => row.filter((_, at) => kept.includes(at)));
  const texts = [columns.map(({ title }) => title), ...fitRows(columns, escaped, width, measure)];
  const paint = (text: string, row: number, at: number) =>
    row > 0 && style !== undefined && columns[at]?.status === true ? colourStatus(text, style) : text;
  const cells = texts.map((row, y) =>
    row.map((text, x) => ({ text: paint(text, y, x), width: measure(text) })),
  );
  return align(cells);
}

function colourStatus(cell: string, { good, bad }: Pick<Style, 'good' | 'bad'>): string {
  if (cell === 'failed') return bad(cell);
  return cell === 'succeeded' ? good(cell) : cell;
}

interface Cell {
  readonly text: string;
  /** On the screen. */
  readonly width: number;
}

/** Pads each cell to the width of its column; lines have no blanks at their end. */
function align(rows: readonly (readonly Cell[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((cells) => cells[at]?.width ?? 0)));
  const lines = rows.map((cells) =>
    cells.map(({ text, width }, at) => text + ' '.repeat((widths[at] ?? 0) - width)).join(' '.repeat(GAP)),
  );
  return lines.map((line) => line.trimEnd()).join('\n');
}
