/**
 * Ten thousand jobs in simulated time: the real scheduler, client, journal and disk; see test/batch/run/simulation. The
 * simulated service is in the same process, so its memory counts too. All code is bundled first, like the released
 * tool: Node needs 45 MiB to run TypeScript directly.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import * as v from 'valibot';
import packageJson from '../package.json' with { type: 'json' };
import type { Figure } from './figure.ts';
import { runProcess } from './measure.ts';

const CHILD = 'simulated-batch';
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const Summary = v.object({
  undone: v.number(),
  twice: v.number(),
  refusals: v.number(),
  makespan: v.number(),
  statusRequests: v.number(),
  meanDelayMs: v.number(),
  p99DelayMs: v.number(),
  shortestPauseMs: v.number(),
  longestPauseMs: v.number(),
  replayMs: v.number(),
  againMs: v.number(),
  peakMiB: v.number(),
  growthMiB: v.number(),
  cpuMs: v.number(),
});

type Measured = v.InferOutput<typeof Summary>;

const MANY = 10_000;
/**
 * How a user limits the memory of a Node program: both options are documented by Node. About 60 MiB of the heap are live data
 * at the end of the run; the second option leaves 16 MiB for new objects.
 */
const SMALL_HEAP = '--max-old-space-size=150 --max-semi-space-size=8';
/** 250 MB. */
const SMALL_PEAK_MIB = 238;
/**
 * Without these options V8 decides, by the memory of the machine. From 4 GiB on it takes 128 MiB for new objects, and more
 * than twice the live data for others; about 100 MiB are outside the heap. Runs differ by tens of MiB, as it collects sooner
 * or later.
 */
const PEAK_MIB = 450;
/** Enough jobs for a mean that does not depend on a single one. */
const SOME = 1_000;
const TWO_MINUTES_MS = 120_000;

export async function measureBatch(): Promise<readonly Figure[]> {
  // Inside the project, so that it finds the packages that are not bundled.
  const folder = mkdtempSync(pathOf('../node_modules/.bench-'));
  try {
    await bundle(folder);
    // At the same time, so that other work slows both down equally.
    const [many, small] = await Promise.all([
      run(folder, MANY, 'staged', TWO_MINUTES_MS),
      run(folder, MANY, 'staged', TWO_MINUTES_MS, { NODE_OPTIONS: SMALL_HEAP }),
    ]);
    const untold = await run(folder, SOME, 'none', TWO_MINUTES_MS);
    const short = await run(folder, SOME, 'staged', 8_000);
    return figuresOf({ many, small, untold, short });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function bundle(folder: string): Promise<void> {
  const external = Object.keys({ ...packageJson.dependencies, ...packageJson.optionalDependencies });
  const output = { dir: folder, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' };
  await build({ input: pathOf(`${CHILD}.ts`), platform: 'node', external, output, logLevel: 'silent' });
}

type Run = 'many' | 'small' | 'untold' | 'short';

function figuresOf({ many, small, untold, short }: Readonly<Record<Run, Measured>>): readonly Figure[] {
  return [
    figure(
      '10,000 jobs: extra time, compared with a scheduler that knows every duration',
      lossOf(many),
      '%',
      1,
    ),
    figure('status requests ÷ jobs', many.statusRequests, '×', 2.2),
    figure('mean delay from finished to noticed', many.meanDelayMs, 'ms', 1_200),
    figure('99 % are noticed within', many.p99DelayMs, 'ms'),
    figure('longest time between two polls', many.longestPauseMs, 'ms', 15_300),
    { ...figure('shortest', many.shortestPauseMs, 'ms'), limit: { atLeast: 1_000 } },
    figure('items not done, duplicate jobs, jobs refused without a slot', badOf(many), '', 0),
    figure('peak memory', many.peakMiB, 'MiB', PEAK_MIB),
    figure(`peak memory with NODE_OPTIONS="${SMALL_HEAP}"`, small.peakMiB, 'MiB', SMALL_PEAK_MIB),
    figure('the same, CPU time ÷ without these options', small.cpuMs / many.cpuMs, '×'),
    figure('the same, items not done, duplicate jobs, jobs refused without a slot', badOf(small), '', 0),
    figure('memory growth from 2,000 jobs to the end', many.growthMiB, 'MiB'),
    figure('reopening its journal, CPU time', many.replayMs, 'ms', 2_000),
    figure('another run with everything done, CPU time', many.againMs, 'ms'),
    figure(
      'without progress from the service: extra time, compared with a scheduler that knows every duration',
      lossOf(untold),
      '%',
    ),
    figure('the same, status requests ÷ jobs', untold.statusRequests, '×'),
    figure('the same, mean delay', untold.meanDelayMs, 'ms'),
    figure(
      'jobs of 8 s: extra time, compared with a scheduler that knows every duration',
      lossOf(short),
      '%',
    ),
    figure('the same, status requests ÷ jobs', short.statusRequests, '×'),
  ];
}

function figure(name: string, value: number, unit: Figure['unit'], atMost?: number): Figure {
  return { name, value, unit, ...(atMost === undefined ? {} : { limit: { atMost } }) };
}

function lossOf({ makespan }: Measured): number {
  return (makespan - 1) * 100;
}

function badOf({ undone, twice, refusals }: Measured): number {
  return undone + twice + refusals;
}

async function run(
  folder: string,
  items: number,
  telling: string,
  medianMs: number,
  env: NodeJS.ProcessEnv = {},
): Promise<Measured> {
  const command = [process.execPath, join(folder, `${CHILD}.mjs`), String(items), telling, String(medianMs)];
  const { code, output } = await runProcess(command, env);
  if (code !== 0) throw new Error(`the simulated batch ended with ${code}:\n${output}`);
  return v.parse(Summary, JSON.parse(output));
}
