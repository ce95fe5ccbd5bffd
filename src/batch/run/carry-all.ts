/** All items of a run on their way, those that come later among them. */
import type { RunOutcome, Task } from './batch.ts';
import { carry } from './carry-parts.ts';
import type { Run } from './run.ts';

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
  let order = 0;

  function take(task: Task, place: number): void {
    const carrying = carryTask(run, task, order);
    order += 1;
    // It may fail long before the others have come to their ends, which is when somebody hears of it.
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
    run.stopping.stop('interrupted');
    throw error;
  }
}
