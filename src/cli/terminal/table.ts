/** Tables on stdout. On a terminal they fit its width; elsewhere every cell is whole. */
import Table from 'cli-table3';
import type { TableHead } from '../../commands/context.ts';
import { escapeControls } from './escape.ts';
import { fitRows, GAP } from './fit.ts';
import { loadMeasure, type Measure } from './measure.ts';
import type { Style } from './style.ts';

const NO_BORDERS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: ' '.repeat(GAP),
};

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
  const columns = head.map((each) => ({
    shrinks: 0,
    status: false,
    ...(typeof each === 'string' ? { title: each } : each),
  }));
  const table = new Table({
    head: columns.map(({ title }) => title),
    chars: NO_BORDERS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  const escaped = rows.map((row) => row.map(escapeControls));
  const measure = await loadMeasure([...columns.map(({ title }) => title), ...escaped.flat()]);
  const standIns = createStandIns(measure);
  for (const row of fitRows(columns, escaped, width, measure)) {
    table.push(row.map((cell, at) => standIns.take(cell, columns[at]?.status === true ? style : undefined)));
  }
  const lines = table.toString().split('\n');
  return lines.map((line) => standIns.giveBack(line.trimEnd())).join('\n');
}

/** The area of Unicode without characters: one of them, repeated, is as wide as it is long. */
const FIRST_STAND_IN = 0xe000;
const LAST_STAND_IN = 0xf8ff;
const STAND_INS = /([\ue000-\uf8ff])\1*/g;

/** The table library measures by an old Unicode; cells beyond ASCII go through it as text of their true width. */
function createStandIns(measure: Measure) {
  const cells: string[] = [];
  return {
    take(cell: string, style: TableOptions['style']): string {
      const coloured = style === undefined ? cell : colourStatus(cell, style);
      const width = measure(cell);
      const plain = coloured === cell && /^[\x20-\x7e]*$/.test(cell);
      if (plain || width === 0 || FIRST_STAND_IN + cells.length > LAST_STAND_IN) return cell;
      cells.push(coloured);
      return String.fromCharCode(FIRST_STAND_IN + cells.length - 1).repeat(width);
    },
    giveBack: (line: string) =>
      line.replace(STAND_INS, (run) => cells[run.charCodeAt(0) - FIRST_STAND_IN] ?? run),
  };
}

function colourStatus(cell: string, { good, bad }: Pick<Style, 'good' | 'bad'>): string {
  if (cell === 'failed') return bad(cell);
  return cell === 'succeeded' ? good(cell) : cell;
}
