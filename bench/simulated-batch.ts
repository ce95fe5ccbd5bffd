/** Runs one simulated batch in a separate process, to measure its memory. Prints the results as JSON. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulate } from '../test/batch/run/simulation/simulate.ts';
import type { ProgressReporting } from '../test/client/simulation/work.ts';
import { quantile } from './measure.ts';

const [items = '', progress = '', medianMs = ''] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
try {
  const ran = await simulate({
    items: Number(items),
    // The bench that starts this process passes one of them.
    progress: progress as ProgressReporting,
    medianMs: Number(medianMs),
    folder,
  });
  const { makespan, statusRequests, delaysMs, pausesMs, replayMs, againMs, memoryMiB, counts, jobs } = ran;
  const done = ran.outcomes.filter(({ state }) => state.phase === 'done').length;
  const meanDelayMs = delaysMs.reduce((sum, delay) => sum + delay, 0) / delaysMs.length;
  const cpu = process.cpuUsage();
  const summary = {
    undone: Number(items) - done,
    twice: jobs - done,
    refusals: counts.refusals,
    makespan,
    statusRequests,
    meanDelayMs,
    p99DelayMs: quantile(delaysMs, 0.99),
    shortestPauseMs: Math.min(...pausesMs),
    longestPauseMs: Math.max(...pausesMs),
    replayMs,
    againMs,
    peakMiB: memoryMiB.peak,
    growthMiB: memoryMiB.late - memoryMiB.early,
    cpuMs: (cpu.user + cpu.system) / 1000,
  };
  process.stdout.write(JSON.stringify(summary));
} finally {
  rmSync(folder, { recursive: true });
}
