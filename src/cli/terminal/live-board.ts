/** Many pieces of work on a terminal: a frame that stays in its place, and above it only what went wrong. */
import type { Io, Progress, WorkPicture } from '../../context/context.ts';
import { drawBoard } from './draw-board.ts';
import { escapeControls } from './escape.ts';
import type { Repeat } from './repeat.ts';
import { createScreen } from './screen.ts';
import type { Style } from './style.ts';
import { describeCounts } from './totals-text.ts';

export interface LiveBoard extends Progress {
  /** Puts a text of several rows, escaped already, above the frame. */
  print(text: string): void;
}

/** Draws on stderr; the caller must `close` it, which leaves the totals behind and gives the cursor back. */
export function createLiveBoard(io: Io, style: Style, look: () => WorkPicture, repeat?: Repeat): LiveBoard {
  const screen = createScreen(io, (room) => drawBoard(look(), room, io.now(), style), repeat);
  let isClosed = false;
  return {
    show: () => screen.refresh(),
    end: (key, outcome, text) => {
      screen.refresh();
      if (outcome === 'done') return;
      const mark = outcome === 'failed' ? style.bad('✖') : style.warn('■');
      screen.print(`${mark} ${style.strong(escapeControls(key))}  ${escapeControls(text)}`);
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
