/** Creates the state of a run. */

import PQueue from 'p-queue';
import { createInputs } from '../../base/find-input.ts';
import { pauseFor } from '../../client/transport/retry.ts';
import { DOWNLOADS } from '../deliver/deliver-results.ts';
import { fileOf } from '../inputs/items.ts';
import type { BatchItem, BatchListener, ItemState } from '../item.ts';
import type { BatchRecord } from '../records/batch-records.ts';
import { type Batch, isEndless, type Task } from './batch.ts';
import { type CountedItem, countEarlierBills, createBudget } from './budget.ts';
import { createLauncher } from './launcher.ts';
import { createPreparations } from './preparations.ts';
import type { Rebuild } from './rebuild.ts';
import { readRecalls } from './recall.ts';
import { createNote, type Run } from './run.ts';
import { createSources } from './sources.ts';
import { type Stopping, stopReasonOf, whyStopped } from './stopping.ts';
import { createBatchUploads } from './uploads.ts';

interface RunParts {
  readonly batch: Batch;
  readonly stopping: Stopping;
  /** See `nameBatch`. */
  readonly reference: string;
  readonly rebuild: Rebuild;
}

export function createRun({ batch, stopping, reference, rebuild }: RunParts): Run {
  const { options, runtime, listen, connection, journal } = batch;
  const budget = createBudget(options.maxCredits, options.newCredits, options.prices);
  const counted = new Set<string>();
  function countBills(items: readonly CountedItem[]): void {
    const others = items.filter(({ key }) => !counted.has(key));
    for (const { key } of others) counted.add(key);
    if (options.fresh) return;
    countEarlierBills(budget, others, journal);
    const { reserved, charged, unknown } = budget.totals();
    // A run that finds everything done still reports the costs.
    if (charged + reserved + unknown > 0) reportCredits();
  }
  function reportCredits(): void {
    const [committed, ofThisRun] = [budget.committed(), budget.ofThisRun()];
    listen({ type: 'credits', ...budget.totals(), committed, ofThisRun, isFree: connection.isFree });
  }
  countBills([...batch.tasks.map(({ item }) => item), ...(batch.counted ?? [])]);
  const launcher = createLauncher({ runtime, budget, stopping, most: options.jobs, listen });
  const streak = { inARow: 0 };
  const following = { jobs: 0 };
  const tell = createTeller(listen, runtime.now);
  const note = createNote(batch.warn);
  const uploads = createBatchUploads({ batch, stopping, tell, note });
  const preparations = createPreparations({ batch, journal, stopping, tell });
  const inputs = createInputs([...(batch.inputFiles ?? []), ...inputPaths(batch.tasks)]);
  const { jobs } = connection.client;
  return {
    batch,
    journal,
    stopping,
    launcher,
    preparations,
    sources: createSources({ batch, uploads, preparations, stopping }),
    downloads: new PQueue({ concurrency: DOWNLOADS }),
    // A service on this machine reports more if jobs are read individually, and that costs nothing.
    wait: connection.everyMs === null ? jobs.waitTogether() : jobs.wait,
    batchReference: reference,
    rebuild,
    following,
    streak,
    tell,
    note,
    recalled: { recorded: readRecalls(batch.memory === undefined ? [] : journal.prepared), isWarned: false },
    inputs,
    countBills,
    canAfford: (kind, units) => budget.judge(kind, units) !== 'stop',
    pause: (ms) => pauseFor(runtime, ms, stopping.launching),
    takeBill(item, key, { billing }): readonly BatchRecord[] {
      const bill = budget.bill(item.key, item.kind, billing, item.units);
      reportCredits();
      launcher.lookAgain();
      if (billing === null && bill.quantity === null) return [];
      const { status: bill_status, quantity, reserved_credits: reserved, charged_credits: charged } = bill;
      return [{ type: 'changed', key, bill_status, quantity, reserved, charged }];
    },
    judge(failure, { input }) {
      const isAddress = input.type === 'url';
      const { category } = failure.facts;
      if (category === 'temporary' || (category === 'credits' && isAddress)) streak.inARow += 1;
      const facts = { inARow: streak.inARow, inFlight: following.jobs, isAddress };
      const reason = stopReasonOf(failure, facts);
      // A run that waits for files also waits until the service is reachable again.
      const isWaitedOut = reason === 'network' && isEndless(batch);
      if (reason !== null && !isWaitedOut) stopping.stop(reason, whyStopped(reason, failure));
      return failure;
    },
  };
}

/** Paths of the input files of tasks. */
export function inputPaths(tasks: readonly Task[]): readonly string[] {
  return tasks.flatMap(({ item }) => fileOf(item.input)?.path ?? []);
}

/** Reports states of items; a state of a part is reported as a state of its item. */
export function createTeller(listen: BatchListener, now: () => number): Run['tell'] {
  /** By item key, then by number of the part. */
  const families = new Map<string, Map<number, ItemState>>();
  const say = (item: BatchItem, state: ItemState) => listen({ type: 'item', item, state, atMs: now() });
  return (item, state) => {
    const { part } = item;
    if (part === undefined) {
      if (isEnd(state)) families.delete(item.key);
      say(item, state);
      return;
    }
    const family = families.get(part.of.key) ?? new Map<number, ItemState>();
    const jobId = jobIdOf(state);
    if (jobId !== null && jobId !== jobIdOf(family.get(part.number))) {
      listen({ type: 'part', item: part.of, part: part.number, of: part.count, jobId });
    }
    families.set(part.of.key, family.set(part.number, state));
    const whole = combineStates([...family.values()], part.count);
    if (whole !== null) say(part.of, whole);
  };
}

function jobIdOf(state: ItemState | undefined): string | null {
  return state !== undefined && 'jobId' in state ? state.jobId : null;
}

function isEnd({ phase }: ItemState): boolean {
  return phase === 'done' || phase === 'failed' || phase === 'left';
}

type Of<P extends ItemState['phase']> = Extract<ItemState, { phase: P }>;

/**
 * The state of an item from the known states of its parts; null if there is nothing to report. The most advanced part decides
 * the phase, the sum of all parts the fraction.
 * @param count of all parts
 */
export function combineStates(states: readonly ItemState[], count: number): ItemState | null {
  const known = <P extends ItemState['phase']>(phase: P) =>
    // The filter has checked the phase.
    states.filter((state) => state.phase === phase) as Of<P>[];
  const done = known('done');
  const atWork = [...known('processing'), ...known('downloading')];
  const queued = known('queued');
  const jobId = [...atWork, ...queued].map((state) => state.jobId)[0];
  if (jobId !== undefined && (atWork.length > 0 || done.length > 0)) {
    const parts = `${done.length} of ${count} parts done`;
    const stage = known('processing').find((state) => state.stage !== null)?.stage;
    const sum = states.reduce((total, state) => total + shareOf(state), 0);
    const text = stage == null ? parts : `${stage}, ${parts}`;
    return { phase: 'processing', jobId, stage: text, fraction: sum / count };
  }
  if (queued[0] !== undefined) return queued[0];
  const uploading = known('uploading');
  if (uploading.length > 0) {
    const add = (pick: (state: Of<'uploading'>) => number) =>
      uploading.reduce((total, state) => total + pick(state), 0);
    return { phase: 'uploading', bytes: add(({ bytes }) => bytes), total: add(({ total }) => total) };
  }
  return known('submitting')[0] ?? known('validating')[0] ?? known('ready')[0] ?? null;
}

/** The fraction of the work on a part that is done. */
function shareOf(state: ItemState): number {
  if (state.phase === 'processing') return state.fraction;
  return state.phase === 'done' || state.phase === 'downloading' ? 1 : 0;
}
