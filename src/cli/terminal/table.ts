/** Tables on stdout. On a terminal they fit its width; elsewhere every cell is whole. */
import Table from 'cli-table3';
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

/** cli-table3 compares each row with all before it: 5,000 rows take 5 s of CPU at once, and 0.8 s in blocks of so many. */
const BLOCK_ROWS = 20;

/** Stands for one cell of the screen while cli-table3 lays out. */
const STAND_IN = 'x';

const BORDERLESS = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
  ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '' },
  middle: ' '.repeat(GAP),
};

/** Colours are put in afterwards, and only the gap separates columns. */
const PLAIN = { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 };

/** Nothing is truncated, but cli-table3 measures this for cells of more than ten letters, and all but ASCII costs 40 ms. */
const TRUNCATE = '.';

/**
 * Fills up the columns. cli-table3 measures by the Unicode of 2020, in which Thai, Devanagari and newer emoji have other
 * widths; so for each text it gets a stand-in of its width, which the text replaces afterwards.
 */
function align(rows: readonly (readonly Cell[])[]): string {
  const standIns = rows.map((cells) => cells.map(({ width }) => STAND_IN.repeat(width)));
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((cells) => cells[at]?.width ?? 0)));
  const blocks: string[] = [];
  for (let begin = 0; begin < rows.length; begin += BLOCK_ROWS) {
    const table = new Table({ chars: BORDERLESS, style: PLAIN, colWidths: [...widths], truncate: TRUNCATE });
    table.push(...standIns.slice(begin, begin + BLOCK_ROWS));
    blocks.push(table.toString());
  }
  const shown = rows.flat().filter(({ width }) => width > 0);
  let next = 0;
  const text = blocks.join('\n').replaceAll(/x+/g, () => shown[next++]?.text ?? '');
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
