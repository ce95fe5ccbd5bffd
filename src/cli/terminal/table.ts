/** Tables on stdout. On a terminal they fit its width; elsewhere every cell is on one line. No cell is cut. */
import type { TableHead } from '../../commands/context/context.ts';
import { escapeControls } from './escape.ts';
import { chooseWidths, GAP, loadMeasure, wrapCell } from './fit.ts';
import type { Style } from './style.ts';

interface TableOptions {
  /** In cells; infinite without it. */
  readonly width?: number;
  readonly style?: Pick<Style, 'good' | 'bad'>;
}

/** Lays out rows under a head, or each as a list of titles and values where its columns do not fit; every cell is escaped. */
export async function layOut(
  head: readonly TableHead[],
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, style }: TableOptions = {},
): Promise<string> {
  const columns = head.map((each) => (typeof each === 'string' ? { title: each } : each));
  const titles = columns.map(({ title }) => title);
  const cells = rows.map((row) => row.map(escapeControls));
  const measure = await loadMeasure([...titles, ...cells.flat()]);
  const paint = (text: string, at: number) =>
    style !== undefined && columns[at]?.status === true ? colourStatus(text, style) : text;
  const pad = (text: string, width: number) => ' '.repeat(width - measure(text));
  const widths = chooseWidths(columns, cells, width, measure);
  if (widths === null) {
    const widest = Math.max(...titles.map(measure));
    const lineOf = (text: string, at: number) => {
      const title = titles[at] ?? '';
      return text === '' ? [] : [`${title}${pad(title, widest + GAP)}${paint(text, at)}`];
    };
    return cells.map((row) => row.flatMap(lineOf).join('\n')).join('\n\n');
  }
  const linesOf = (row: readonly string[], isHead: boolean) => {
    const wrapped = Array.from(widths, ([at, room]) => ({
      at,
      room,
      lines: wrapCell(row[at] ?? '', room, measure),
    }));
    const height = Math.max(...wrapped.map(({ lines }) => lines.length));
    return Array.from({ length: height }, (_, line) =>
      wrapped
        .map(
          ({ at, room, lines: { [line]: text = '' } }) =>
            `${isHead ? text : paint(text, at)}${pad(text, room)}`,
        )
        .join(' '.repeat(GAP))
        .trimEnd(),
    );
  };
  return [titles, ...cells].flatMap((row, at) => linesOf(row, at === 0)).join('\n');
}

function colourStatus(cell: string, { good, bad }: Pick<Style, 'good' | 'bad'>): string {
  if (cell === 'failed') return bad(cell);
  return cell === 'succeeded' ? good(cell) : cell;
}
