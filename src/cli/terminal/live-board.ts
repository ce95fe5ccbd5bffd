/** Many items on a terminal: a frame that stays in its place, and above it only failures. */
import stringWidth from 'string-width';
import type { Io, Progress, RunningWork, WorkSummary } from '../../commands/context/context.ts';
import { formatDuration } from '../../commands/context/format.ts';
import { escapeControls } from './escape.ts';
import { shortenText } from './fit.ts';
import { describeCounts, describeOutlook, describeStep, drawBar } from './progress-text.ts';
import type { Repeat } from './repeat.ts';
import { createScreen, type ScreenSize } from './screen.ts';
import type { Style } from './style.ts';
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
  const work = shown.map((each) => drawRow(each, width, now));
  const more = hidden > 0 ? [`  … and ${hidden} more`] : [];
  return [...totals.map((line) => shortenText(line, width, stringWidth)), ...work, ...more].map((line) =>
    shortenText(line, width, stringWidth).replace(/─+/, (rest) => style.faint(rest)),
  );
}

/** The cells of each column; those without cells are omitted. */
interface Columns {
  readonly label: number;
  readonly bar: number;
  readonly step: number;
  readonly time: number;
}

const GAP = '  ';
/** The width that `drawBar` draws. */
const BAR_CELLS = 20;
/** `downloading 100 %`. */
const STEP_CELLS = 18;
/** `downloading 40 %, 123 MB of 1.2 GB` with rate. */
const DETAILED_STEP_CELLS = 40;
/** `59 min 59 s`. */
const TIME_CELLS = 11;

/** From these widths on there is room for more than name and stage. */
const WITH_TIME = 50;
const WITH_BAR = 70;
const WITH_DETAIL = 120;

function chooseColumns(width: number): Columns {
  const bar = width >= WITH_BAR ? BAR_CELLS : 0;
  const time = width >= WITH_TIME ? TIME_CELLS : 0;
  const step = width >= WITH_DETAIL ? DETAILED_STEP_CELLS : STEP_CELLS;
  const others = [bar, step, time].filter((cells) => cells > 0);
  const taken = others.reduce((sum, cells) => sum + cells + GAP.length, GAP.length);
  return { label: Math.max(1, width - taken), bar, step, time };
}

function drawRow({ label, step, since }: RunningWork, width: number, now: number): string {
  const columns = chooseColumns(width);
  const { phase, fraction } = step;
  const text = describeStep(columns.step === STEP_CELLS ? { phase, fraction } : step);
  const cells = [
    pad(shortenMiddle(escapeControls(label), columns.label), columns.label),
    ...(columns.bar === 0 ? [] : [drawBar(step.fraction)]),
    pad(shortenText(escapeControls(text), columns.step, stringWidth), columns.step),
    ...(columns.time === 0 ? [] : [formatDuration(now - since).padStart(columns.time)]),
  ];
  return `${GAP}${cells.join(GAP)}`;
}

/** Pads to a width in cells; wide characters count as two. */
function pad(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - stringWidth(text)));
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
