import type { Stage } from '../../engines/engine.ts';
import type { Clock } from '../clock.ts';

/** Callers poll every second or two; a write for every report of an engine would wear the disk. */
const MIN_INTERVAL_MS = 1000;
/** 100 is for a result that exists. */
const MAX_RUNNING_PERCENT = 99;

/**
 * Makes the receiver of an engine's reports.
 * @param write takes whole percents that never fall, at most once a second but at once for a new stage
 */
export function createProgress(
  write: (percent: number, stage: Stage | null) => void,
  clock: Pick<Clock, 'now'>,
): (fraction: number, stage?: Stage) => void {
  let writtenAt = Number.NEGATIVE_INFINITY;
  let highest = 0;
  let current: Stage | null = null;
  return (fraction, stage) => {
    const percent = Math.min(MAX_RUNNING_PERCENT, Math.floor(fraction * 100));
    const entered = stage !== undefined && stage !== current;
    const due = percent > highest && clock.now() - writtenAt >= MIN_INTERVAL_MS;
    if (!entered && !due) return;
    highest = Math.max(highest, percent);
    current = stage ?? current;
    writtenAt = clock.now();
    write(highest, current);
  };
}
