/** Many items on a terminal: a frame that stays in its place, and above it only failures. */
import stringWidth from 'string-width';
import type { Io, Progress, RunningWork, WorkSummary } from '../../commands/context/context.ts';
import { formatDuration } from '../../commands/context/format.ts';
import { escapeControls } from './escape.ts';
import { GAP, shortenText } from './fit.ts';
import { describeCounts, describeOutlook, describeStep, drawBar } from './progress-text.ts';
import type { Repeat } from './repeat.ts';
import { createScreen, type ScreenSize } from './screen.ts';
import type { Style } from './style.ts';
import { drawCells } from './table.ts';
import { widthOf, wrapProse } from './wrap.ts';

export interface LiveBoard extends Progress {
  /** Puts a text of several rows, escaped already, above the frame. */
  print(text: string): void;
}

/** Draws on stderr; the caller must `close` it, which prints the totals and shows the cursor again. */
export function createLiveBoard(io: Io, style: Style, look: () => WorkSummary, repeat?: Repeat): LiveBoard {
  const screen = createScreen(io, (room) => drawBoard(look(), room, io.now(), style), repeat);
  let isClosed = false;
  return {
    show: () => screen.refresh(),
    end: (key, outcome, text) => {
      screen.refresh();
      if (outcome === 'done') return;
      const mark = outcome === 'failed' ? style.bad('✖') : style.warn('■');
      const name = escapeControls(key);
      // The mark and the blanks around the name.
      const shown = wrapProse(escapeControls(text), widthOf(io), name.length + 4, 4);
      screen.print(`${mark} ${style.strong(name)}  ${shown}`);
    },
    print: (text) => screen.print(text),
    close: () => {
      if (isClosed) return;
      isClosed = true;
      screen.print(describeCounts(look()));
      screen.close();
    },
  };
}

/** Two of totals, one for those that have no row, one for the cursor, and one that shows the last line above. */
const OTHER_ROWS = 5;

/**
 * The lines of a frame. The totals come first, so that they keep their place while rows come and go.
 * @param now milliseconds since 1970
 */
export function drawBoard(
  picture: WorkSummary,
  room: ScreenSize,
  now: number,
  style: Style,
): readonly string[] {
  // A line as wide as the terminal would take a second row on some.
  const width = Math.max(1, room.columns - 1);
  const rows = Math.max(1, room.rows - OTHER_ROWS);
  const shown = picture.running.slice(0, rows);
  const hidden = picture.running.length - shown.length;
  const { done, failed, total } = picture.counts;
  const bar = drawBar(total === 0 ? null : (done + failed) / total);
  const totals = [
    `${bar}  ${describeCounts(picture)}`,
    describeOutlook(picture, now).map(escapeControls).join(' · '),
  ];
  const work = drawRows(shown, width, now);
  const more = hidden > 0 ? [`  … and ${hidden} more`] : [];
  return [...totals.map((line) => shortenText(line, width)), ...work, ...more].map((line) =>
    shortenText(line, width).replace(/─+/, (rest) => style.faint(rest)),
  );
}

/** A column of the rows; the texts are cut where they are wider. */
interface Column {
  /** The width of the frame from which on there is room for it. */
  readonly from: number;
  readonly cells: number;
  readonly align: 'left' | 'right';
  readonly textOf: (work: RunningWork) => string;
}

const INDENT = ' '.repeat(GAP);
/** The width that `drawBar` draws. */
const BAR_CELLS = 20;
/** `downloading 100 %`. */
const STEP_CELLS = 18;
/** `downloading 40 %, 123 MB of 1.2 GB` with rate. */
const DETAILED_STEP_CELLS = 40;
const WITH_DETAIL = 120;
/** `59 min 59 s`. */
const TIME_CELLS = 11;

function columnsFor(width: number, now: number): readonly Column[] {
  const isDetailed = width >= WITH_DETAIL;
  const others: readonly Column[] = [
    { from: 70, cells: BAR_CELLS, align: 'left', textOf: ({ step }) => drawBar(step.fraction) },
    {
      from: 0,
      cells: isDetailed ? DETAILED_STEP_CELLS : STEP_CELLS,
      align: 'left',
      textOf: ({ step: { phase, fraction, ...more } }) =>
        describeStep({ phase, fraction, ...(isDetailed ? more : {}) }),
    },
    { from: 50, cells: TIME_CELLS, align: 'right', textOf: ({ since }) => formatDuration(now - since) },
  ];
  const shown = others.filter(({ from }) => width >= from);
  const taken = shown.reduce((sum, { cells }) => sum + GAP + cells, INDENT.length);
  const cells = Math.max(1, width - taken);
  return [
    { from: 0, cells, align: 'left', textOf: ({ label }) => shortenMiddle(escapeControls(label), cells) },
    ...shown,
  ];
}

function drawRows(work: readonly RunningWork[], width: number, now: number): readonly string[] {
  if (work.length === 0) return [];
  const columns = columnsFor(width, now);
  const rows = work.map((each) =>
    columns.map(({ cells, textOf }) => shortenText(escapeControls(textOf(each)), cells)),
  );
  const widths = columns.map(({ cells }) => cells);
  const aligns = columns.map(({ align }) => align);
  return drawCells(rows, { widths, aligns }).map((line) => `${INDENT}${line}`);
}

/**
 * The beginning and the end of a text that fits, `…` between them: a name keeps its ending and its language.
 * @param width in cells of the screen, at least 1
 */
export function shortenMiddle(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  const characters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  const room = width - 1;
  const end = takeCells(characters.toReversed(), Math.floor(room / 2)).reverse();
  const begin = takeCells(characters, room - stringWidth(end.join('')));
  return `${begin.join('')}…${end.join('')}`;
}

function takeCells(characters: readonly string[], cells: number): string[] {
  const taken: string[] = [];
  let left = cells;
  for (const character of characters) {
    left -= stringWidth(character);
    if (left < 0) break;
    taken.push(character);
  }
  return taken;
}
