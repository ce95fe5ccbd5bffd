/**
 * Runs a batch so that nothing is paid twice and no paid result is lost, whenever it is killed and however often it is
 * started. Source: design, "The record (journal)".
 */

import { dirname, join } from 'node:path';
import PQueue from 'p-queue';
import { Failure } from '../client/index.ts';
import { decideItems } from './plan/decide-items.ts';
import { withLanguages } from './plan/gathered.ts';
import { recipeOf } from './recipes/recipe-of.ts';
import { findDoubt } from './records/lost-jobs.ts';
import { recordsPath } from './records/record-folder.ts';
import { createUnusableRecord } from './records/unusable-inputs.ts';
import { type Arrival, type Batch, isEndless, type RunOutcome, type Task } from './run/batch.ts';
import { nameBatch } from './run/client-reference.ts';
import { createRun, inputPaths } from './run/create-run.ts';
import { choicesOf, recordedIn } from './run/open-batch.ts';
import { createRebuild, mayPay, type Rebuild } from './run/rebuild.ts';
import type { Run } from './run/run.ts';
import { runItem } from './run/run-item.ts';
import { runSteps } from './run/run-steps.ts';
import { createStopping, pauseOf } from './run/stopping.ts';

/**
 * Runs all items, including those that arrive during the run. The outcomes are in the order of the items.
 * @throws Failure: `temporary` (LOCK_LOST) if another process has taken over the folder, `disk` (JOURNAL_DAMAGED if the
 *   journal is damaged and the service cannot be asked which jobs it has); the reason of the signal if it is aborted before
 *   the first item starts; internal errors
 */
export async function runBatch(batch: Batch): Promise<readonly RunOutcome[]> {
  const open = await openRun(batch);
  try {
    const outcomes = await runItems(open, prepareArrivals(open));
    batch.journal.lost.throwIfAborted();
    return outcomes;
  } finally {
    open.end();
  }
}

/** A run to which tasks can be given. */
export interface OpenRun {
  readonly run: Run;
  /** Those of the batch. */
  readonly tasks: readonly Task[];
  /** Adds tasks, after looking for jobs of them that the journal lacks. @throws Failure */
  take(arrival: Arrival): Promise<readonly Task[]>;
  /** Stops listening to the signal and the clock. */
  end(): void;
}

/** @throws Failure as `runBatch` */
export async function openRun(batch: Batch): Promise<OpenRun> {
  const { journal } = batch;
  const stopping = createStopping(batch.signal, (reason, message) =>
    batch.listen({ type: 'stop', reason, message }),
  );
  const stopLost = () => stopping.stop('broken', journal.lost.reason.message);
  journal.lost.addEventListener('abort', stopLost);
  const over = new AbortController();
  const end = () => {
    over.abort();
    stopping.end();
    journal.lost.removeEventListener('abort', stopLost);
  };
  try {
    warnOfDamage(batch);
    const name = await nameBatch(journal, batch.delivery);
    if (batch.preface.length > 0) await journal.add(...batch.preface);
    const rebuild = await createRebuild({ batch, journal, name });
    const tasks = await adoptLostJobs(batch, rebuild, batch.tasks);
    const run = createRun({ batch, stopping, reference: name.batch, rebuild });
    limitTime(run, over.signal);
    return {
      run,
      tasks,
      async take({ tasks, records }) {
        run.inputs.add(inputPaths(tasks));
        await journal.add(...records);
        const adopt = () => adoptLostJobs(batch, rebuild, tasks);
        const ready = await (isEndless(batch) ? patiently(run, adopt) : adopt());
        run.countBills(ready.map(({ item }) => item));
        for (const { item } of ready) run.tell(item, { phase: 'waiting' });
        return ready;
      },
      end,
    };
  } catch (error) {
    end();
    throw error;
  }
}

/** Warns about what follows from a damaged journal; the plan has reported the damage itself. */
function warnOfDamage({ warn, delivery, options, journal }: Batch): void {
  const doubt = findDoubt(journal, null);
  if (doubt === null) return;
  const kept = doubt.kept.map((file) => join(dirname(recordsPath(delivery)), file)).join(', ');
  warn(
    `The record of ${delivery.folder} was damaged${kept === '' ? '' : ` and is kept as it was found in ${kept}`}. ` +
      (options.fresh
        ? 'With --fresh new jobs are made without asking the service which jobs it lost.'
        : 'Before a job is made, the service is asked which jobs it has.'),
  );
}

/** Before anything is paid, adds jobs that the service has and the records lack, and decides about their items with them. */
async function adoptLostJobs(
  batch: Batch,
  rebuild: Rebuild,
  tasks: readonly Task[],
): Promise<readonly Task[]> {
  const { journal, options, delivery, runtime, signal } = batch;
  const unpaid = tasks.filter(({ item, decision }) => mayPay(item, decision));
  const items = unpaid.map(({ item }) => item);
  const count = await rebuild.takeUp(items);
  if (count === 0) return tasks;
  batch.warn(
    `The record of this folder ${journal.isNew ? 'was lost' : 'is incomplete'}; ${count} jobs were found again at the service.`,
  );
  const choices = choicesOf(options, delivery, runtime.now(), signal);
  const { decisions } = await decideItems(items, recordedIn(journal), choices);
  const adopted = new Map(unpaid.map((task, position) => [task, decisions[position]]));
  return tasks.map((task) => ({ ...task, decision: adopted.get(task) ?? task.decision }));
}

function limitTime({ batch, stopping }: Run, over: AbortSignal): void {
  const { maxDurationMs, timeoutMs } = batch.options;
  const limits = [
    { ms: maxDurationMs, reason: 'max-duration' },
    { ms: timeoutMs, reason: 'timeout' },
  ] as const;
  for (const { ms, reason } of limits) {
    if (ms === null) continue;
    batch.runtime.sleep(ms, over).then(
      () => stopping.stop(reason),
      () => undefined,
    );
  }
}

/**
 * Items that run in addition to those with slots: they prepare their input or download results. Enough that no slot stays
 * unused, and few enough that ten thousand items need little more memory than a hundred.
 */
export const BESIDE_SLOTS = 100;

/**
 * Runs all items. Outcomes are in the order of the items; of an item that arrived again, the last outcome counts. An internal
 * error in one item ends the others too, after they have written their records.
 */
async function runItems(
  { run, tasks }: OpenRun,
  later: AsyncIterable<readonly Task[]>,
): Promise<readonly RunOutcome[]> {
  const outcomes: Promise<RunOutcome>[] = [];
  const places = new Map<string, number>();
  const line = new PQueue({ concurrency: run.batch.options.jobs + BESIDE_SLOTS });
  let order = 0;

  function take(task: Task, place: number): void {
    const at = order;
    order += 1;
    // An item with a job holds a slot, or its result expires: it does not wait.
    const isNew = task.decision.step === 'new';
    const { gathers } = task.item;
    const start = () => runTask(run, task, at);
    const own = gathers?.flatMap(({ key }) => outcomes[places.get(key) ?? -1] ?? []);
    const outcome = own !== undefined ? runGathered(run, task, own, at) : isNew ? line.add(start) : start();
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

/** @param order smaller ones start first  @throws internal errors, which stop the run */
export async function runTask(run: Run, task: Task, order: number): Promise<RunOutcome> {
  const { item, decision } = task;
  try {
    const recipe = await recipeOf(run, task);
    if (recipe === null) return await runItem(run, item, order, decision);
    // --fresh replaces what earlier runs made, not jobs that this run has started and resumes.
    return await runSteps(run, item, order, recipe, run.batch.options.fresh && decision.step === 'new');
  } catch (error) {
    run.stopping.stop('broken');
    throw error;
  }
}

/**
 * Makes the file with all languages of a video, once those that are tasks of the run have ended. One that cannot be made is recorded,
 * since no job tells it to later commands.
 * @param languages their outcomes
 * @throws internal errors
 */
export async function runGathered(
  run: Run,
  { item, decision }: Task,
  languages: readonly Promise<RunOutcome>[],
  order: number,
): Promise<RunOutcome> {
  const ended = await Promise.all(languages);
  const isDone = new Map(ended.map(({ item: { key }, state }) => [key, state.phase === 'done']));
  const made = withLanguages(item, isDone);
  const unmade = made.gathers?.length === 0 ? whyUnmade(ended) : null;
  if (unmade !== null) run.tell(item, unmade);
  const outcome =
    unmade === null
      ? await runTask(run, { item: made, decision }, order)
      : ({ item, state: unmade, job: null } as const);
  const { state } = outcome;
  if (state.phase === 'failed' && decision.step === 'new') {
    const { message, facts } = state.failure;
    // The code of its languages, which says whether another run can help.
    const code = unmade === null ? undefined : facts.code;
    await run.journal.add(createUnusableRecord(item, message, run.batch.runtime.now(), code));
  }
  return outcome;
}

/** How a file ends of which no language has a result: as the first of them. Null if none is known. */
function whyUnmade(languages: readonly RunOutcome[]): RunOutcome['state'] | null {
  const ends = languages.map(({ state }) => state);
  const left = ends.find(({ phase }) => phase === 'left');
  if (left?.phase === 'left') return { ...left, jobId: null };
  const failed = ends.find(({ phase }) => phase === 'failed');
  if (failed?.phase !== 'failed') return null;
  const { jobId: _, requestId: __, ...facts } = failed.failure.facts;
  const message = `no language of it could be made: ${failed.failure.message}`;
  const failure = new Failure({ ...facts, message }, { cause: failed.failure });
  return { phase: 'failed', jobId: null, failure };
}

/** Yields the tasks that arrive during the run. */
async function* prepareArrivals({ run, take }: OpenRun): AsyncGenerator<readonly Task[]> {
  const { batch, stopping } = run;
  if (batch.more === undefined) return;
  try {
    for await (const arrival of batch.more(stopping.launching)) yield await take(arrival);
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
