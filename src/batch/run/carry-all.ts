/** All items of a run on their way, those that come later among them. */
import type { RunOutcome, Task } from './batch.ts';
import { carry } from './carry-parts.ts';
import type { Run } from './run.ts';

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
