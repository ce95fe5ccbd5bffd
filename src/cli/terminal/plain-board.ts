/** Many pieces of work where stderr is no terminal: a line for each change, and the totals in between. */
import type { Progress, WorkPicture } from '../../commands/context.ts';
import type { Io } from '../../commands/io.ts';
import { escapeControls } from './escape.ts';
import { HEARTBEAT_MS } from './plain-progress.ts';
import { type Repeat, repeatWithTimer } from './repeat.ts';
import { describeStep } from './step-text.ts';
import { describeCounts, describeOutlook } from './totals-text.ts';

/** The caller must `close` it. */
export function createPlainBoard(
  io: Pick<Io, 'stderr' | 'now'>,
  look: () => WorkPicture,
  repeat: Repeat = repeatWithTimer,
): Progress {
  const phases = new Map<string, string>();
  const write = (text: string) => io.stderr.write(`${escapeControls(text)}\n`);
  const writeTotals = () => {
    const picture = look();
    write([describeCounts(picture), ...describeOutlook(picture, io.now())].join(' · '));
  };
  const stop = repeat(HEARTBEAT_MS, writeTotals);
  let isClosed = false;
  return {
    show: (key, step) => {
      if (phases.get(key) === step.phase) return;
      phases.set(key, step.phase);
      write(`${key}: ${describeStep(step)}`);
    },
    end: (key, _outcome, text) => {
      phases.delete(key);
      write(`${key}: ${text}`);
    },
    close: () => {
      if (isClosed) return;
      isClosed = true;
      stop();
      writeTotals();
    },
  };
}
