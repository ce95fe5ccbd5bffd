/** Tables. On a terminal they fit its width; elsewhere every cell is on one line. No cell is cut. */
import Table from 'cli-table3';
import stringWidth from 'string-width';
import type { TableHead } from '../../commands/context/context.ts';
import { escapeControls } from './escape.ts';
import { chooseWidths, GAP, wrapCell } from './fit.ts';
import type { Style } from './style.ts';

interface TableOptions {
  /** In cells; infinite without it. */
  readonly width?: number;
  readonly style?: Pick<Style, 'good' | 'bad'>;
}

/** Lays out rows under a head, or each as a list of titles and values where its columns do not fit; every cell is escaped. */
export function layOut(
  head: readonly TableHead[],
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, style }: TableOptions = {},
): string {
  const columns = head.map((each) => (typeof each === 'string' ? { title: each } : each));
  const titles = columns.map(({ title }) => title);
  const cells = rows.map((row) => row.map(escapeControls));
  const wrap = (text: string, at: number, room: number) => {
    const isColoured = style !== undefined && columns[at]?.status === true;
    return wrapCell(isColoured ? colourStatus(text, style) : text, room).join('\n');
  };
  const widths = chooseWidths(columns, cells, width);
  if (widths === null) {
    const widest = Math.max(...titles.map((title) => stringWidth(title)));
    const roomOf = (at: number) =>
      Math.max(columns[at]?.wraps ?? Number.POSITIVE_INFINITY, width - widest - GAP);
    const linesOf = (row: readonly string[]) =>
      row.flatMap((text, at) => (text === '' ? [] : [[titles[at] ?? '', wrap(text, at, roomOf(at))]]));
    return cells.map((row) => drawCells(linesOf(row), { widths: [widest] }).join('\n')).join('\n\n');
  }
  const shown = titles.filter((_, at) => widths.has(at));
  return drawCells(
    cells.map((row) => Array.from(widths, ([at, room]) => wrap(row[at] ?? '', at, room))),
    { head: shown.some((title) => title !== '') ? shown : [], widths: [...widths.values()] },
  ).join('\n');
}

function colourStatus(cell: string, { good, bad }: Pick<Style, 'good' | 'bad'>): string {
  if (cell === 'failed') return bad(cell);
  return cell === 'succeeded' ? good(cell) : cell;
}

const BORDERLESS = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
  ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '' },
  middle: ' '.repeat(GAP),
};

/** Without the colours and blanks of cli-table3. */
const PLAIN = { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 };

/**
 * Nothing is too long for its column, but cli-table3 cuts each cell to 10 for a log that nobody reads, letter by letter: 5,000 rows
 * of Thai names take 11 s, and 3 s with a mark that leaves no room for letters.
 */
const TRUNCATE = '.'.repeat(10);

/** Rows that cli-table3 gets at once: it compares each with all before it. */
const PAGE_ROWS = 100;

interface Layout {
  readonly head?: readonly string[];
  /** In cells; a column without a width is as wide as its widest cell. */
  readonly widths: readonly number[];
  readonly aligns?: readonly ('left' | 'right')[];
}

/** Cells in columns; those with line breaks take several lines. Lines have no blanks at their end. */
export function drawCells(
  rows: readonly (readonly string[])[],
  { head = [], widths, aligns = [] }: Layout,
): readonly string[] {
  const pages = [];
  for (let begin = 0; begin === 0 || begin < rows.length; begin += PAGE_ROWS) {
    const table = new Table({
      chars: BORDERLESS,
      style: PLAIN,
      truncate: TRUNCATE,
      head: begin === 0 ? [...head] : [],
      colWidths: [...widths],
      colAligns: [...aligns],
    });
    table.push(...rows.slice(begin, begin + PAGE_ROWS).map((row) => [...row]));
    pages.push(table.toString());
  }
  return pages.flatMap((page) => page.split('\n')).map((line) => line.trimEnd());
}
