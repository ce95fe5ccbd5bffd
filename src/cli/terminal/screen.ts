/** A part of the terminal that is redrawn in its place, with lines that stay above it. */
import { createLogUpdate } from 'log-update';
import stringWidth from 'string-width';
import type { Io } from '../../commands/context/context.ts';
import { type Repeat, repeatWithTimer } from './repeat.ts';

/** The size of the terminal in cells. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

interface Screen {
  /** Says that there is news; it is drawn with the next frame. */
  refresh(): void;
  /** Prints a text, coloured or not, above the frame; it stays. */
  print(text: string): void;
  /** Removes the frame and shows the cursor again; printed text stays. */
  close(): void;
}

/** Five frames a second look alive, and people read no faster. */
const FRAME_MS = 200;
/** Durations and times left change without any news. */
const CLOCK_MS = 1_000;

/** Terminals that support these show everything between them in one step; others ignore them. */
const FRAME_BEGINS = '\u001b[?2026h';
const FRAME_ENDS = '\u001b[?2026l';
const ERASE_ROW_ABOVE = '\u001b[1A\u001b[2K';
const ERASE_BELOW = '\u001b[G\u001b[J';

/**
 * Draws on stderr, which must be a terminal; the caller must `close` it.
 * @param draw the lines of a frame, none wider than the room and fewer than its rows
 */
export function createScreen(
  io: Pick<Io, 'stderr' | 'now'>,
  draw: (room: ScreenSize) => readonly string[],
  repeat: Repeat = repeatWithTimer,
): Screen {
  const frame = createFrame(io);
  let printed: string[] = [];
  let hasNews = true;
  let drawnAt = Number.NEGATIVE_INFINITY;

  const paint = () => {
    const isDue = hasNews || io.now() - drawnAt >= CLOCK_MS || frame.isResized();
    if (!isDue) return;
    frame.show(printed, draw(frame.room()));
    printed = [];
    hasNews = false;
    drawnAt = io.now();
  };
  const stop = repeat(FRAME_MS, paint);
  let isClosed = false;
  return {
    refresh: () => {
      hasNews = true;
    },
    print: (text) => {
      printed.push(text);
      hasNews = true;
    },
    close: () => {
      if (isClosed) return;
      isClosed = true;
      stop();
      frame.end(printed);
    },
  };
}

/** The drawn frame, updated by one write per frame. */
function createFrame({ stderr }: Pick<Io, 'stderr'>) {
  let pending = '';
  let shown: readonly string[] = [];
  let width = 0;
  let height = 0;
  const room = (): ScreenSize => ({ columns: stderr.columns ?? 80, rows: stderr.rows ?? 24 });
  const collector = {
    get columns() {
      return room().columns;
    },
    get rows() {
      return room().rows;
    },
    write: (text: string) => {
      pending += text;
      return true;
    },
  };
  const update = createLogUpdate(collector as unknown as NodeJS.WritableStream); // it uses these three members

  const flush = () => {
    if (pending !== '') stderr.write(`${FRAME_BEGINS}${pending}${FRAME_ENDS}`);
    pending = '';
  };
  const remember = (lines: readonly string[]) => {
    shown = lines;
    ({ columns: width, rows: height } = room());
  };
  /** Terminals break the lines that became too wide, so that the frame takes more rows than were written. */
  const eraseBroken = () => {
    const { columns } = room();
    if (columns >= width || shown.length === 0) return;
    const taken = shown.reduce((rows, line) => rows + Math.max(1, Math.ceil(stringWidth(line) / columns)), 0);
    update.clear();
    pending += ERASE_ROW_ABOVE.repeat(taken - shown.length) + ERASE_BELOW;
  };
  return {
    room,
    isResized: () => room().columns !== width || room().rows !== height,
    show: (printed: readonly string[], lines: readonly string[]) => {
      eraseBroken();
      if (printed.length > 0) update.persist(printed.join('\n'));
      update(lines.join('\n'));
      flush();
      remember(lines);
    },
    end: (printed: readonly string[]) => {
      eraseBroken();
      update.clear();
      if (printed.length > 0) update.persist(printed.join('\n'));
      flush();
      update.done();
      remember([]);
    },
  };
}
