/** Pictures of work for the tests of what shows them. */
import type { RunningWork, WorkSummary } from '../../../src/commands/context/context.ts';
import { START_MS } from './terminal-io.ts';

export const QUIET: WorkSummary = {
  running: [],
  counts: { total: 0, done: 0, running: 0, waiting: 0, failed: 0, left: 0 },
  leftMs: null,
  cost: null,
  slots: null,
  deadline: null,
  stop: null,
};

/** So many at work; each began a second after the one before it. */
function runningWork(count: number): RunningWork[] {
  return Array.from({ length: count }, (_, at) => ({
    label: `week1/talk-${String(at).padStart(2, '0')}.mp4 → es`,
    step: { phase: 'dubbing', fraction: at / count },
    since: START_MS + at * 1000,
  }));
}

export function picture(running: number, counts: Partial<WorkSummary['counts']> = {}): WorkSummary {
  const total = counts.total ?? running;
  return { ...QUIET, running: runningWork(running), counts: { ...QUIET.counts, running, total, ...counts } };
}
