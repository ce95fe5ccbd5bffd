/** Runs all items of a batch concurrently, including those that arrive during the run. */

import { Failure } from '../../client/index.ts';
import { foldItemFacts } from '../plan/facts.ts';
import type { RunOutcome, Task } from './batch.ts';
import { inputPaths } from './create-run.ts';
import type { Run } from './run.ts';
import { carry } from './run-parts.ts';
import { pauseOf } from './stopping.ts';

/**
 * Items at work beyond those that have slots: they get ready for theirs, or fetch what their jobs have made. Enough that no
 * slot waits for them, and so few that ten thousand items weigh little more than a hundred.
 */
const BESIDE_SLOTS = 100;

/**
 * Carries all of them to their ends; the outcomes come in the order of the items, the last one of an item that came
 * again. A defect in one item ends the others too, but not before they have written down what they know.
 */
export async function carryAll(
  run: Run,
  tasks: readonly Task[],
  later: AsyncIterable<readonly Task[]>,
): Promise<readonly RunOutcome[]> {
  const carried: Promise<RunOutcome>[] = [];
  const places = new Map<string, number>();
  const line = createLine(run.batch.options.jobs + BESIDE_SLOTS);
  let order = 0;

  function take(task: Task, place: number): void {
    const at = order;
    order += 1;
    // What has a job already holds a slot, or a result that lapses: it waits for nobody.
    const isNew = task.decision.step === 'new';
    const carrying = isNew ? line.add(() => carryTask(run, task, at)) : carryTask(run, task, at);
    // It may fail long before the others have finished, and is reported only then.
    carrying.catch(() => undefined);
    places.set(task.item.key, place);
    carried[place] = carrying;
  }

  for (const task of tasks) take(task, carried.length);
  try {
    for await (const arrived of later) {
      for (const task of arrived) take(task, places.get(task.item.key) ?? carried.length);
    }
  } finally {
    await Promise.allSettled(carried);
  }
  return Promise.all(carried);
}

async function carryTask(run: Run, { item, decision }: Task, order: number): Promise<RunOutcome> {
  try {
    return await carry(run, item, order, decision);
  } catch (error) {
    run.stopping.stop('broken');
    throw error;
  }
}

/** Pieces of work in their order, so many at a time. */
function createLine(count: number) {
  const waiting: (() => void)[] = [];
  let atWork = 0;
  return {
    async add<T>(work: () => Promise<T>): Promise<T> {
      if (atWork < count) atWork += 1;
      // A task that ends passes its place on.
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

/** @param prepare them with what the service knows of jobs that the journal lacks */
export async function* takeArrivals(
  run: Run,
  prepare: (tasks: readonly Task[]) => Promise<readonly Task[]>,
): AsyncGenerator<readonly Task[]> {
  const { batch, journal, stopping } = run;
  if (batch.more === undefined) return;
  const recorded = () => ({ intents: journal.intents, facts: foldItemFacts(journal.records()) });
  try {
    for await (const { tasks, records } of batch.more(recorded, stopping.launching)) {
      run.inputs.add(inputPaths(tasks));
      await journal.add(...records);
      const ready = await patiently(run, () => prepare(tasks));
      run.countBills(ready);
      for (const { item } of ready) run.tell(item, { phase: 'waiting' });
      yield ready;
    }
  } catch (error) {
    // What was under way to come is not begun any more, whatever kept it from coming.
    if (stopping.reason === null) throw error;
  }
}

/** The first tasks may come when the service cannot be reached for a while. */
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
