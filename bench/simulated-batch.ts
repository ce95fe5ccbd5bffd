/**
 * Runs one simulated batch in a separate process, to measure its memory. Prints the results as JSON.
 * Arguments: number of items, path of `far-process.ts`.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { simulate } from '../test/batch/run/simulation/simulate.ts';

// As in src/cli/start.ts: without them the figure is how far V8 lets the heap grow, not what vloc keeps.
for (const flag of ['--semi-space-growth-factor=1', '--heap-growing-percent=50']) setFlagsFromString(flag);
const [, , count, farProgram = ''] = process.argv;
const items = Number(count);
/** Median of the simulated work times. */
const TWO_MINUTES_MS = 120_000;
/** The disk would take most of the real time, which is not measured. */
const MEMORY = '/dev/shm';
const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'vloc-bench-'));
try {
  const ran = await simulate({ items, progress: 'staged', medianMs: TWO_MINUTES_MS, folder, farProgram });
  const { makespan, statusRequests, delaysMs, replayMs, againMs, memoryMiB, counts, jobs } = ran;
  const done = ran.outcomes.filter(({ state }) => state.phase === 'done').length;
  const summary = {
    undone: items - done,
    twice: jobs - done,
    refusals: counts.refusals,
    makespan,
    statusRequests,
    meanDelayMs: delaysMs.reduce((sum, delay) => sum + delay, 0) / delaysMs.length,
    replayMs,
    againMs,
    peakMiB: memoryMiB.peak,
  };
  process.stdout.write(JSON.stringify(summary));
} finally {
  rmSync(folder, { recursive: true });
}
