/** People's side of the output: notes, warnings, progress and tables, all escaped. */
import type { Progress, Terminal } from '../../commands/context.ts';
import type { Io } from '../../commands/io.ts';
import type { GlobalValues } from '../global-options.ts';
import { askLine } from './ask.ts';
import { askYesNo } from './confirm.ts';
import { escapeRows } from './escape.ts';
import { createPlainProgress } from './plain-progress.ts';
import { createStyle, type Style } from './style.ts';

/** Makes the terminal of one run. */
export function createTerminal(io: Io, global: GlobalValues): Terminal {
  const style = createStyle(io, global.color);
  const write = (text: string) => io.stderr.write(`${text}\n`);
  return {
    note: (text) => {
      if (!global.quiet) write(escapeRows(text));
    },
    warn: (text) => {
      write(`${style.warn('!')} ${escapeRows(text)}`);
    },
    detail: (text) => {
      if (global.verbose) write(style.faint(escapeRows(text)));
    },
    progress: () => createProgress(io, global, style),
    table: async (head, rows) => {
      const { layOut } = await import('./table.ts');
      const width = io.stdout.isTTY === true ? io.stdout.columns : undefined;
      return layOut(head, rows, {
        style: createStyle(io, global.color, 'stdout'),
        ...(width === undefined ? {} : { width }),
      });
    },
    confirm: (question) => askYesNo(question, io),
    ask: (question, typed) => askLine(question, typed, io),
  };
}

const SILENT: Progress = { show: () => undefined, end: () => undefined, close: () => undefined };

async function createProgress(io: Io, global: GlobalValues, style: Style): Promise<Progress> {
  if (global.quiet) return SILENT;
  if (io.stderr.isTTY !== true || io.env.TERM === 'dumb') return createPlainProgress(io);
  const { createLiveProgress } = await import('./live-progress.ts');
  return createLiveProgress(io, style);
}
