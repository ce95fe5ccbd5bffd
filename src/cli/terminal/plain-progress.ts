/** Progress where stderr is not a terminal: a line at the start, one every half minute, and one for each end. */
import type { Io, Progress, Step, WorkSummary } from '../../commands/context/context.ts';
import { escapeControls } from './escape.ts';
import { describeCounts, describeOutlook, describeStep } from './progress-text.ts';
import { type Repeat, repeatWithTimer } from './repeat.ts';

/** Often enough that a CI job does not count as hung, seldom enough that a log stays readable. */
const HEARTBEAT_MS = 30_000;

/** As many as fit on a line. With more of them, results have no line of their own: they are on stdout. */
const FEW = 3;

/** Writes what all keys are at, in one line, when half a minute has passed since the last one. */
export function createPlainProgress(io: Pick<Io, 'stderr' | 'now'>): Progress {
  const running = new Map<string, Step>();
  const seen = new Set<string>();
  let writtenAt = Number.NEGATIVE_INFINITY;
  const write = (text: string) => io.stderr.write(`${escapeControls(text)}\n`);
  return {
    show: (key, step) => {
      running.set(key, step);
      seen.add(key);
      if (io.now() - writtenAt < HEARTBEAT_MS) return;
      writtenAt = io.now();
      write(describeAll(running));
    },
    end: (key, outcome, text) => {
      running.delete(key);
      if (outcome !== 'done' || seen.size <= FEW) write(`${key}: ${text}`);
    },
    close: () => running.clear(),
  };
}

function describeAll(running: ReadonlyMap<string, Step>): string {
  const rows = [...running].slice(0, FEW).map(([key, step]) => `${key}: ${describeStep(step)}`);
  const more = running.size - rows.length;
  return [...rows, ...(more > 0 ? [`and ${more} more`] : [])].join(' · ');
}

/** Writes the totals now, every half minute, and when it is closed, which the caller must do. */
export function createPlainBoard(
  io: Pick<Io, 'stderr' | 'now'>,
  look: () => WorkSummary,
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
