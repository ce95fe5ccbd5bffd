/** Tasks that come while a run goes on, made ready for it. */
import { Failure } from '../../client/index.ts';
import { foldItemFacts } from '../plan/facts.ts';
import { pauseOf } from './again.ts';
import type { Task } from './batch.ts';
import { inputPaths } from './create-run.ts';
import type { Run } from './run.ts';

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
