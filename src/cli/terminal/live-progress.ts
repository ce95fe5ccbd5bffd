/** Progress on a terminal: a live row for each key, in the order in which they began, and a line for each that ended. */
import ora from 'ora';
import type { Io, Progress, Step } from '../../commands/context/context.ts';
import { escapeControls } from './escape.ts';
import { shortenMiddle } from './live-board.ts';
import { describeStep, drawBar } from './progress-text.ts';
import type { Style } from './style.ts';
import { widthOf, wrapProse } from './wrap.ts';

/** Draws on stderr; the caller must `close` it, which shows the cursor again. */
export function createLiveProgress(io: Io, style: Style): Progress {
  const rows = new Map<string, Step>();
  const stream = io.stderr as NodeJS.WriteStream; // createProgress checked that it is a terminal
  // Its own colour would follow the streams of the process, not --color.
  const spinner = ora({ stream, discardStdin: false, hideCursor: true, color: false });
  const persist = (symbol: string, text: string) => {
    spinner.stopAndPersist({ symbol, text });
    if (rows.size > 0) spinner.start(draw(rows, style, io));
  };
  return {
    show: (key, step) => {
      rows.set(key, step);
      spinner.text = draw(rows, style, io);
      if (!spinner.isSpinning) spinner.start();
    },
    end: (key, outcome, text) => {
      rows.delete(key);
      const name = escapeControls(key);
      // The symbol and the blanks around the name.
      const shown = wrapProse(escapeControls(text), widthOf(io), name.length + 4, 4);
      persist(symbolOf(outcome, style), `${style.strong(name)}  ${shown}`);
    },
    close: () => {
      spinner.stop();
    },
  };
}

function symbolOf(outcome: 'done' | 'failed' | 'stopped', style: Style): string {
  if (outcome === 'done') return style.good('✔');
  return outcome === 'failed' ? style.bad('✖') : style.warn('■');
}

function draw(rows: ReadonlyMap<string, Step>, style: Style, io: Io): string {
  const width = (io.stderr.columns ?? 80) - 4; // the spinner, its blanks, and a cell that keeps the cursor on the row
  const lines = Array.from(rows, ([key, step]) => {
    const [name, state] = [escapeControls(key), escapeControls(describeStep(step))];
    const whole = `${name}  ${drawBar(step.fraction)}  ${state}`;
    const room = Math.max(10, width - state.length - 2);
    const shown = whole.length <= width ? whole : `${shortenMiddle(name, room)}  ${state}`.slice(0, width);
    return shown.replace(/─+/, (rest) => style.faint(rest));
  });
  return lines.join('\n  ');
}
