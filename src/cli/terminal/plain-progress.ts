/** Progress where stderr is no terminal: a line at the start, one every half minute, and one for each end. */
import type { Io, Progress, Step } from '../../context/context.ts';
import { escapeControls } from './escape.ts';
import { describeStep } from './step-text.ts';

/** Often enough that a CI job does not count as hung, seldom enough that a log stays readable. */
export const HEARTBEAT_MS = 30_000;

/** So many fit on a line. With more of them results have no line of their own: they are on stdout. */
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
