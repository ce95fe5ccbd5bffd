/**
 * Ten thousand jobs in simulated time: the real scheduler, client, records and disk; see test/batch/run/simulation. The
 * simulated service is another process, so the memory is vloc's. All its code is bundled first, like the released tool:
 * Node needs 45 MiB to run TypeScript directly.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import * as v from 'valibot';
import packageJson from '../package.json' with { type: 'json' };
import { ANY_TIME_MS, type Figure, NODE_MEMORY_MIB, upTo } from './figure.ts';
import { runProcess } from './measure.ts';

const CHILD = 'simulated-batch';
const FAR_PROGRAM = '../test/batch/run/simulation/far-process.ts';
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const Summary = v.object({
  undone: v.number(),
  twice: v.number(),
  refusals: v.number(),
  makespan: v.number(),
  statusRequests: v.number(),
  meanDelayMs: v.number(),
  replayMs: v.number(),
  againMs: v.number(),
  peakMiB: v.number(),
});

const JOBS = 10_000;
const SHORT_JOBS = 60;

export async function measureBatch(isShort: boolean): Promise<readonly Figure[]> {
  const jobs = isShort ? SHORT_JOBS : JOBS;
  // Inside the project, so that it finds the packages that are not bundled.
  const folder = mkdtempSync(pathOf('../node_modules/.bench-'));
  try {
    await bundle(folder);
    const command = [process.execPath, join(folder, `${CHILD}.mjs`), String(jobs), pathOf(FAR_PROGRAM)];
    const { code, output } = await runProcess(command);
    if (code !== 0) throw new Error(`the simulated batch ended with ${code}:\n${output}`);
    return figuresOf(jobs, v.parse(Summary, JSON.parse(output)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function bundle(folder: string): Promise<void> {
  const external = Object.keys({ ...packageJson.dependencies, ...packageJson.optionalDependencies });
  const output = { dir: folder, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' };
  await build({ input: pathOf(`${CHILD}.ts`), platform: 'node', external, output, logLevel: 'silent' });
}

function figuresOf(jobs: number, measured: v.InferOutput<typeof Summary>): readonly Figure[] {
  return [
    {
      name: `${jobs} jobs: time ÷ that of a scheduler that knows every duration`,
      value: measured.makespan,
      unit: '×',
      limit: { atMost: 1.02 },
      // Nothing is faster than all slots busy all the time, but for rounding.
      plausible: [0.999, 100],
    },
    {
      name: 'the same: status requests ÷ jobs',
      value: measured.statusRequests,
      unit: '×',
      limit: { atMost: 2 },
      // One list has 50 entries.
      plausible: [0.02, 1000],
    },
    {
      name: 'the same: mean delay from finished to noticed, simulated',
      value: measured.meanDelayMs,
      unit: 'ms',
      limit: { atMost: 3000 },
      plausible: ANY_TIME_MS,
    },
    {
      name: 'the same: items not done, duplicate jobs, jobs refused without a slot',
      value: measured.undone + measured.twice + measured.refusals,
      unit: '',
      limit: { atMost: 0 },
      plausible: upTo(1000 * jobs),
    },
    {
      name: 'the same: peak memory',
      value: measured.peakMiB,
      unit: 'MiB',
      limit: { atMost: 300 },
      plausible: NODE_MEMORY_MIB,
    },
    {
      name: 'the same: opening its records again, CPU time',
      value: measured.replayMs,
      unit: 'ms',
      limit: { atMost: 2000 },
      plausible: ANY_TIME_MS,
    },
    {
      name: 'the same: another run with everything done, CPU time',
      value: measured.againMs,
      unit: 'ms',
      plausible: ANY_TIME_MS,
    },
  ];
}
