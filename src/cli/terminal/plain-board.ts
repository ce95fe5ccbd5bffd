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
  let last = '';
  const writeTotals = (isSignOfLife: boolean) => {
    const picture = look();
    const totals = [describeCounts(picture), ...describeOutlook(picture, io.now())].join(' · ');
    const isIdle = picture.counts.running + picture.counts.waiting === 0;
    // Work may come in days: until then one line says that there is none.
    if (isSignOfLife && isIdle && totals === last) return;
    last = totals;
    write(totals);
  };
  const stop = repeat(HEARTBEAT_MS, () => writeTotals(true));
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
      writeTotals(false);
    },
  };
}
