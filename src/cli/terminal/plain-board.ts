/** Many pieces of work where stderr is no terminal: a line with the totals every half minute, and one for each failure. */
import type { Io, Progress, WorkPicture } from '../../context/context.ts';
import { escapeControls } from './escape.ts';
import { HEARTBEAT_MS } from './plain-progress.ts';
import { type Repeat, repeatWithTimer } from './repeat.ts';
import { describeCounts, describeOutlook } from './totals-text.ts';

/** Writes the totals now, every half minute, and when it is closed, which the caller must do. */
export function createPlainBoard(
  io: Pick<Io, 'stderr' | 'now'>,
  look: () => WorkPicture,
  repeat: Repeat = repeatWithTimer,
): Progress {
  const write = (text: string) => io.stderr.write(`${escapeControls(text)}\n`);
  let last = '';
  const writeTotals = (isHeartbeat: boolean) => {
    const picture = look();
    const { total, running, waiting } = picture.counts;
    const totals = [describeCounts(picture), ...describeOutlook(picture, io.now())].join(' · ');
    const isIdle = running + waiting === 0;
    // In a watched folder files may come in days: until then one line is enough.
    if (total === 0 || (totals === last && (isIdle || !isHeartbeat))) return;
    last = totals;
    write(totals);
  };
  // Where nothing is known at the start, as of a watched folder, the run may last for days, and each result is news.
  const isOpen = look().counts.total === 0;
  writeTotals(false);
  const stop = repeat(HEARTBEAT_MS, () => writeTotals(true));
  let isClosed = false;
  return {
    show: () => undefined,
    end: (key, outcome, text) => {
      if (isOpen || outcome !== 'done') write(`${key}: ${text}`);
    },
    close: () => {
      if (isClosed) return;
      isClosed = true;
      stop();
      writeTotals(false);
    },
  };
}
