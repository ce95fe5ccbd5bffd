/** Runs all items of a batch concurrently, including those that arrive during the run. */

import { Failure } from '../../client/index.ts';
import { isEndless, type RunOutcome, type Task } from './batch.ts';
import { inputPaths } from './create-run.ts';
import type { Run } from './run.ts';
import { runWholeOrParts } from './run-parts.ts';
import { pauseOf } from './stopping.ts';

/**
 * Items that run in addition to those with slots: they prepare their input or download results. Enough that no slot stays
 * unused, and few enough that ten thousand items need little more memory than a hundred.
 */
export const BESIDE_SLOTS = 100;

/**
 * Runs all items. Outcomes are in the order of the items; of an item that arrived again, the last outcome counts. An internal
 * error in one item ends the others too, after they have written their records.
 */
export async function runItems(
  run: Run,
  tasks: readonly Task[],
  later: AsyncIterable<readonly Task[]>,
): Promise<readonly RunOutcome[]> {
  const outcomes: Promise<RunOutcome>[] = [];
  const places = new Map<string, number>();
  const line = createLine(run.batch.options.jobs + BESIDE_SLOTS);
  let order = 0;

  function take(task: Task, place: number): void {
    const at = task.order ?? order;
    order += 1;
    // An item with a job holds a slot, or its result expires: it does not wait.
    const isNew = task.decision.step === 'new';
    const outcome = isNew ? line.add(() => runTask(run, task, at)) : runTask(run, task, at);
    // A failure is reported when all items have finished.
    outcome.catch(() => undefined);
    places.set(task.item.key, place);
    outcomes[place] = outcome;
  }

  for (const task of tasks) take(task, outcomes.length);
  try {
    for await (const arrived of later) {
      for (const task of arrived) take(task, places.get(task.item.key) ?? outcomes.length);
    }
  } finally {
    await Promise.allSettled(outcomes);
  }
  return Promise.all(outcomes);
}

async function runTask(run: Run, { item, decision }: Task, order: number): Promise<RunOutcome> {
  try {
    return await runWholeOrParts(run, item, order, decision);
  } catch (error) {
    run.stopping.stop('broken');
    throw error;
  }
}

/** FIFO semaphore. */
function createLine(count: number) {
  const waiting: (() => void)[] = [];
  let atWork = 0;
  return {
    async add<T>(work: () => Promise<T>): Promise<T> {
      if (atWork < count) atWork += 1;
      // A finished task passes its place on.
      else await new Promise<void>((start) => waiting.push(start));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) atWork -= 1;
        else next();
      }
    },
  };
}

/**
 * Yields the tasks that arrive during the run.
 * @param adopt looks at the service for jobs that the journal lacks
 */
export async function* prepareArrivals(
  run: Run,
  adopt: (tasks: readonly Task[]) => Promise<readonly Task[]>,
): AsyncGenerator<readonly Task[]> {
  const { batch, journal, stopping } = run;
  if (batch.more === undefined) return;
  try {
    for await (const { tasks, records } of batch.more(stopping.launching)) {
      run.inputs.add(inputPaths(tasks));
      await journal.add(...records);
      const ready = await (isEndless(batch) ? patiently(run, () => adopt(tasks)) : adopt(tasks));
      run.countBills(ready.map(({ item }) => item));
      for (const { item } of ready) run.tell(item, { phase: 'waiting' });
      yield ready;
    }
  } catch (error) {
    // A stopped run starts nothing new, so the cause does not matter.
    if (stopping.reason === null) throw error;
  }
}

/** Retries temporary failures: the service may be down when tasks arrive. */
async function patiently<T>(run: Run, work: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Failure) || error.facts.category !== 'temporary') throw error;
      await run.pause(pauseOf(failures));
    }
  }
}
