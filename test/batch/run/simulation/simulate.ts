/**
 * A batch of many jobs in simulated time. Scheduler, client, connection, journal and disk are real; the service at
 * the other end is a model, and only clock and sleep are moved by hand.
 */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchItem, BatchListener } from '../../../../src/batch/item.ts';
import type { RunOutcome } from '../../../../src/batch/run/batch.ts';
import { openBatchJournal } from '../../../../src/batch/run/journal.ts';
import { createClient } from '../../../../src/client/index.ts';
import { SYSTEM_RUNTIME } from '../../../../src/client/runtime.ts';
import { drawWork, idealMs, type ProgressReporting } from '../../../client/simulation/work.ts';
import { videoItem } from '../support/items.ts';
import { runInFolder, type UnopenedBatch } from '../support/run-in-folder.ts';
import { unopenedBatch } from '../support/unopened-batch.ts';
import type { Counts } from './far-end.ts';
import { type FarService, startFarService } from './far-service.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.ts';

export interface Simulation {
  readonly items: number;
  readonly progress: ProgressReporting;
  /** Median of the work times. */
  readonly medianMs: number;
  /** An empty folder. */
  readonly folder: string;
  /** Path of `far-process.ts`, where this file was bundled. */
  readonly farProgram?: string;
}

/** Times are simulated but for the last two, which other work on this machine must not lengthen. */
export interface Simulated {
  readonly outcomes: readonly RunOutcome[];
  readonly jobs: number;
  readonly counts: Counts;
  /** From the first job made until the last is known to have ended ÷ that of an observer without delay. */
  readonly makespan: number;
  /** Lists, and reads of single jobs but for the one of each result; each job. */
  readonly statusRequests: number;
  /** Of each job, from its end until the client knows of it, in milliseconds. */
  readonly delaysMs: readonly number[];
  /** Between one round and the next, in milliseconds. */
  readonly pausesMs: readonly number[];
  /** Real CPU time: of opening the journal of the run again, and of another run that finds everything done. */
  readonly replayMs: number;
  readonly againMs: number;
  /**
   * Resident memory of the process of the client when a fifth of the items were done, when all were, and the most until then.
   */
  readonly memoryMiB: { readonly early: number; readonly late: number; readonly peak: number };
}

const SLOTS = 15;
const SEED = 20_260_101;
const LANGUAGES = ['es', 'fr', 'de', 'it', 'pt', 'nl', 'pl', 'ja', 'ko', 'zh'];

export async function simulate(simulation: Simulation): Promise<Simulated> {
  const { items: count, medianMs, progress, folder, farProgram } = simulation;
  const time = createVirtualTime(Date.now());
  const setup = { count, medianMs, progress, seed: SEED, slots: SLOTS };
  const far = await startFarService(setup, time, farProgram);
  const batch = openSimulated(far, time, folder, await makeItems(folder, count));
  try {
    const memory = watchMemory(count / 5);
    const outcomes = await time.run(runInFolder({ ...batch, listen: memory.listen }));
    const memoryMiB = {
      early: memory.early(),
      late: residentMiB(),
      peak: peakMiB(),
    };
    const { counts, jobs } = await far.report();
    const told = jobs.map(({ toldMs }) => toldMs ?? Number.NaN);
    const makespanMs = Math.max(...told) - (jobs[0]?.createdMs ?? Number.NaN);
    const work = drawWork(count, medianMs, progress, SEED);
    const replayMs = await cpuMsOf(async () => (await openBatchJournal(batch.delivery)).close());
    const againMs = await cpuMsOf(() => runInFolder(batch));
    return {
      outcomes,
      jobs: jobs.length,
      counts,
      makespan: makespanMs / idealMs(work, SLOTS),
      statusRequests: (counts.lists + counts.looks + counts.results - jobs.length) / jobs.length,
      delaysMs: jobs.map(({ endedMs }, at) => (told[at] ?? Number.NaN) - endedMs),
      pausesMs: counts.rounds.slice(1).map((atMs, position) => atMs - (counts.rounds[position] ?? 0)),
      replayMs,
      againMs,
      memoryMiB,
    };
  } finally {
    await batch.connection.client.close();
    await far.close();
  }
}

/** Each file in ten languages, so that one upload serves ten items. */
async function makeItems(folder: string, count: number): Promise<readonly BatchItem[]> {
  const inputs = join(folder, 'in');
  await mkdir(inputs);
  const items: BatchItem[] = [];
  while (items.length < count) {
    const path = join(inputs, `talk-${items.length}.mp4`);
    await writeFile(path, `\0\0\0\x18ftypisom ${items.length}`);
    const languages = LANGUAGES.slice(0, count - items.length);
    items.push(...languages.map((language) => videoItem(path, language)));
  }
  return items;
}

function openSimulated(
  far: FarService,
  time: VirtualTime,
  folder: string,
  items: readonly BatchItem[],
): UnopenedBatch {
  const credentials = { key: 'vk_simulated', secret: 'only for this run' };
  const { baseUrl } = far;
  const runtime = { ...SYSTEM_RUNTIME, now: time.now, sleep: time.sleep };
  const stateDir = join(folder, 'state');
  const batch = unopenedBatch({ baseUrl, credentials, stateDir, out: join(folder, 'out'), items });
  const client = createClient({ baseUrl, ...credentials, runtime });
  return {
    ...batch,
    connection: { client, everyMs: null, isFree: false, readProvenance: async () => null },
    runtime,
  };
}

/** Notes the memory once so many items are done. */
function watchMemory(items: number): { readonly listen: BatchListener; early(): number } {
  let done = 0;
  let early = Number.NaN;
  return {
    listen(event) {
      if (event.type !== 'item' || event.state.phase !== 'done') return;
      done += 1;
      if (done === items) early = residentMiB();
    },
    early: () => early,
  };
}

function residentMiB(): number {
  return process.memoryUsage.rss() / 2 ** 20;
}

/**
 * From the kernel's own file, which Linux alone has: the `maxRSS` of a process begins with that of the one that started it,
 * as it was then. Source: Linux, `exec_mmap`.
 */
function peakMiB(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1024;
  const [, kiB] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kiB) / 1024;
}

async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
