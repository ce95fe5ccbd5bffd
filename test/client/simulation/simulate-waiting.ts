/** Waits for the jobs of a simulated service, without connections and disks: hours of waiting in a second. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Job } from '../../../src/client/index.ts';
import { createSharedPoller, type JobReader } from '../../../src/client/jobs/shared-poller.ts';
import { readJob, readJobSummary } from '../../../src/client/read/job.ts';
import { type ClientContext, createContext } from '../../../src/client/transport/context.ts';
import { createEventTime } from './event-time.ts';
import { createSimulatedJobs, describeAt, type SimulatedJob, summaryAt } from './simulated-jobs.ts';
import { idealMs, type Work } from './work.ts';

export interface Waited {
  /** Time until the last job is known to have ended, divided by that with immediate knowledge of each end. */
  readonly makespan: number;
  /** Requests per job: lists, and reads of single jobs except the one that gets the result. */
  readonly statusRequests: number;
  /** For each job, milliseconds from its end until its slot is known to be free. */
  readonly delaysMs: readonly number[];
  /** Milliseconds between rounds. */
  readonly pausesMs: readonly number[];
}

const KIND = 'auto_localization';
const SLOTS = 15;
/** One way. Source: performance figures, "Waiting": 0.1 s for both ways. */
const TRAVEL_MS = 50;

/** Runs jobs in fifteen slots, and waits for all of them. */
export async function waitForAll(work: readonly Work[]): Promise<Waited> {
  const time = createEventTime(Date.UTC(2026, 0, 1));
  const far = createSimulatedJobs(work, SLOTS);
  const rounds: number[] = [];
  let requests = 0;

  async function request<T>(answer: () => T): Promise<T> {
    await time.sleep(TRAVEL_MS);
    const answered = answer();
    await time.sleep(TRAVEL_MS);
    return answered;
  }
  const read = (job: SimulatedJob) => readJob(KIND, describeAt(job, time.now()), null);
  const jobs: JobReader = {
    get(_kind, id) {
      requests += 1;
      const job = far.find(id);
      if (job === undefined) throw new TypeError(`there is no job ${id}`);
      return request(() => read(job));
    },
    list(_kind, { cursor = null, limit }) {
      requests += 1;
      if (cursor === null) rounds.push(time.now());
      return request(() => {
        const { jobs, next } = far.page(cursor, limit);
        const data = jobs.map((job) => readJobSummary(KIND, summaryAt(job, time.now()), null));
        return { object: 'list', data, has_more: next !== null, next_cursor: next };
      });
    },
  };

  const wait = createSharedPoller(contextWith(time), jobs);
  const free = new Map<string, number>();
  let begun = 0;
  async function fillSlot(): Promise<void> {
    while (begun < work.length) {
      begun += 1;
      const made = await request(() => {
        const job = far.create(`key-${far.all.length}`, {}, time.now());
        return job === null ? null : read(job);
      });
      if (made === null) throw new Error('a job was sent before a slot was free');
      await untilFree(made);
    }
  }
  const results: Promise<Job>[] = [];
  function untilFree(seen: Job): Promise<void> {
    return new Promise((resolve) => {
      const onEnd = () => {
        free.set(seen.id, time.now());
        resolve();
      };
      results.push(wait(KIND, seen.id, { seen, onEnd }));
    });
  }

  let isOver = false;
  const filling = Promise.all(Array.from({ length: SLOTS }, fillSlot));
  const all = filling
    .then(() => Promise.all(results))
    .finally(() => {
      isOver = true;
    });
  all.catch(() => undefined);
  for (;;) {
    await nextTurn();
    if (isOver) break;
    if (!time.advance())
      throw new Error('deadlock: nothing is left to wait for, but the jobs have not ended');
  }
  const ended = await all;
  if (ended.some(({ status }) => status !== 'succeeded')) throw new Error('a wait ended before its job');
  const lastMs = Math.max(...free.values());
  return {
    makespan: (lastMs - (far.all[0]?.createdMs ?? 0)) / idealMs(work, SLOTS),
    statusRequests: (requests - work.length) / work.length,
    delaysMs: far.all.map((job) => (free.get(job.id) ?? Number.NaN) - job.createdMs - job.work.ms),
    pausesMs: rounds.slice(1).map((atMs, position) => atMs - (rounds[position] ?? 0)),
  };
}

function contextWith(runtime: Pick<ClientContext['runtime'], 'now' | 'sleep'>): ClientContext {
  return createContext({ baseUrl: 'https://far.example/v1', key: 'key', secret: 'secret', runtime });
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
