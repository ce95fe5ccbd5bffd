/** Progress on a terminal: one live row for each key; a finished phase leaves a row behind with its time. */
import ora from 'ora';
import type { Io, Progress, Step } from '../../commands/context/context.ts';
import { formatDuration } from '../../commands/context/format.ts';
import { escapeControls } from './escape.ts';
import { describeStep, drawBar } from './progress-text.ts';
import type { Style } from './style.ts';
import { widthOf, wrapProse } from './wrap.ts';

interface Row {
  step: Step;
  /** When the phase began, milliseconds since 1970. */
  since: number;
}

/** Draws on stderr; the caller must `close` it, which shows the cursor again. */
export function createLiveProgress(io: Io, style: Style): Progress {
  const rows = new Map<string, Row>();
  const spinner = ora({ stream: io.stderr as NodeJS.WriteStream, discardStdin: false, hideCursor: true }); // createProgress checked that it is a terminal
  const persist = (symbol: string, text: string) => {
    spinner.stopAndPersist({ symbol, text });
    if (rows.size > 0) spinner.start(draw(rows, style, io));
  };
  return {
    show: (key, step) => {
      const before = rows.get(key);
      const changed = before !== undefined && before.step.phase !== step.phase;
      rows.set(key, { step, since: before === undefined || changed ? io.now() : before.since });
      if (changed) persist(style.good('✔'), finishedPhase(key, before, io.now(), style));
      spinner.text = draw(rows, style, io);
      if (!spinner.isSpinning) spinner.start();
    },
    end: (key, outcome, text) => {
      const before = rows.get(key);
      rows.delete(key);
      if (before !== undefined && outcome === 'done') {
        persist(style.good('✔'), finishedPhase(key, before, io.now(), style));
      }
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

function finishedPhase(key: string, row: Row, now: number, style: Style): string {
  const time = style.faint(formatDuration(now - row.since));
  return `${escapeControls(key)}  ${escapeControls(row.step.phase)} ${time}`;
}

function draw(rows: ReadonlyMap<string, Row>, style: Style, io: Io): string {
  const width = (io.stderr.columns ?? 80) - 4; // the spinner, its blanks, and a cell that keeps the cursor on the row
  const lines = Array.from(rows, ([key, { step }]) => {
    const text = `${key}  ${drawBar(step.fraction)}  ${describeStep(step)}`;
    const shown = escapeControls(text).slice(0, Math.max(10, width));
    return shown.replace(/─+/, (rest) => style.faint(rest));
  });
  return lines.join('\n  ');
}
