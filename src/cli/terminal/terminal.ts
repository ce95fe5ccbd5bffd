/** Output for people: notes, warnings, progress and tables, all escaped. */
import type { Io, Progress, Terminal, WorkSummary } from '../../commands/context/context.ts';
import type { GlobalValues } from '../../commands/context/global-options.ts';
import { escapeControls, escapeRows } from './escape.ts';
import type { LiveBoard } from './live-board.ts';
import { createPlainBoard, createPlainProgress } from './plain-progress.ts';
import { loadStyle, type Style } from './style.ts';
import { widthOf, wrapRows } from './wrap.ts';

/** Makes the terminal of one run; the signal ends what waits for an answer. */
export async function createTerminal(io: Io, global: GlobalValues, signal: AbortSignal): Promise<Terminal> {
  const style = await loadStyle(io, global.color);
  let board: LiveBoard | null = null;
  const write = (text: string) => {
    if (board === null) io.stderr.write(`${text}\n`);
    else board.print(text);
  };
  return {
    note: (text) => {
      if (!global.quiet) write(wrapRows(escapeControls(text), widthOf(io)));
    },
    warn: (text) => {
      write(`${style.warn('!')} ${wrapRows(escapeControls(text), widthOf(io), 2)}`);
    },
    detail: (text) => {
      if (global.verbose) write(style.faint(escapeRows(text)));
    },
    progress: () => createProgress(io, global, style),
    board: async (look) => {
      if (!isAttended(io) || global.quiet) return createQuietBoard(io, global, look);
      const { createLiveBoard } = await import('./live-board.ts');
      const live = createLiveBoard(io, style, look);
      board = live;
      const close = () => {
        live.close();
        board = null;
      };
      return { ...live, close };
    },
    table: async (head, rows) => {
      const { layOut } = await import('./table.ts');
      const width = io.stdout.isTTY === true ? io.stdout.columns : undefined;
      return layOut(head, rows, {
        style: await loadStyle(io, global.color, 'stdout'),
        ...(width === undefined ? {} : { width }),
      });
    },
    confirm: async (question) => (await import('./ask.ts')).askYesNo(question, io, signal),
    ask: async (question) => (await import('./ask.ts')).askLine(question, io, signal),
  };
}

const SILENT: Progress = { show: () => undefined, end: () => undefined, close: () => undefined };

async function createProgress(io: Io, global: GlobalValues, style: Style): Promise<Progress> {
  if (global.quiet) return SILENT;
  if (!isAttended(io)) return createPlainProgress(io);
  const { createLiveProgress } = await import('./live-progress.ts');
  return createLiveProgress(io, style);
}

function createQuietBoard(io: Io, global: GlobalValues, look: () => WorkSummary): Progress {
  if (global.quiet) return SILENT;
  return createPlainBoard(io, look);
}

/** Whether stderr is a terminal that can be drawn on. */
function isAttended(io: Io): boolean {
  return io.stderr.isTTY === true && io.env.TERM !== 'dumb';
}
