/** Tables on stdout. On a terminal they fit its width; elsewhere every cell is whole. */
import type { TableHead } from '../../commands/context.ts';
import { escapeControls } from './escape.ts';
import { chooseColumns, fitRows, GAP } from './fit.ts';
import { loadMeasure } from './measure.ts';
import type { Style } from './style.ts';

export interface TableOptions {
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
  const titles = columns.map(({ title }) => title);
  const lines = [titles, ...fitRows(columns, escaped, width, measure)];
  const widths = columns.map((_, at) => Math.max(...lines.map((cells) => measure(cells[at] ?? ''))));
  const drawCell = (cell: string, row: number, at: number) => {
    const isStatus = row > 0 && columns[at]?.status === true;
    const drawn = isStatus && style !== undefined ? colourStatus(cell, style) : cell;
    return drawn + ' '.repeat((widths[at] ?? 0) - measure(cell));
  };
  return lines
    .map((cells, row) =>
      cells
        .map((cell, at) => drawCell(cell, row, at))
        .join(' '.repeat(GAP))
        .trimEnd(),
    )
    .join('\n');
}

function colourStatus(cell: string, { good, bad }: Pick<Style, 'good' | 'bad'>): string {
  if (cell === 'failed') return bad(cell);
  return cell === 'succeeded' ? good(cell) : cell;
}
