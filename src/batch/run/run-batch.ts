/**
 * Carries a batch out, so that nothing is paid twice and no paid result is lost, whenever it is killed and however often
 * it is started. Source: design, "The record (journal)".
 */
import { isApiAnswer } from '../../client/failure.ts';
import { decideItems } from '../plan/decide-items.ts';
import { foldItemFacts } from '../plan/facts.ts';
import { takeArrivals } from './arrivals.ts';
import type { Batch, RunOutcome, Task } from './batch.ts';
import { carryAll } from './carry-all.ts';
import { nameBatch } from './client-reference.ts';
import { createRun } from './create-run.ts';
import { asFailures, type BatchJournal, openBatchJournal } from './journal.ts';
import { hashInput } from './known-uploads.ts';
import { rebuildJournal } from './rebuild.ts';
import type { Run } from './run.ts';
import { keepHeapSmall } from './small-heap.ts';
import { createStopping, type Stopping } from './stopping.ts';

/**
 * Runs all items, those that come while it runs among them; the outcomes come in their order.
 * @throws Failure: `temporary` (BATCH_LOCKED) when another process works in the folder, `disk`; the reason of the signal
 *   when it is aborted before the first item is begun; a defect of ours
 */
export async function runBatch(batch: Batch): Promise<readonly RunOutcome[]> {
  keepHeapSmall(batch.tasks.length);
  const journal = await openBatchJournal(batch.delivery.folder);
  const stopping = createStopping(batch.signal, (reason, message) =>
    batch.listen({ type: 'stop', reason, message }),
  );
  try {
    for (const sentence of journal.damage) batch.warn(sentence);
    return await asFailures(() => runLocked(batch, journal, stopping));
  } finally {
    stopping.end();
    await journal.close();
  }
}

async function runLocked(batch: Batch, journal: BatchJournal, stopping: Stopping) {
  const reference = await nameBatch(journal, batch.delivery.folder);
  if (batch.preface.length > 0) await journal.add(...batch.preface);
  await findLostJobs(batch, batch.tasks, journal, reference);
  const tasks = await decideAgain(batch, batch.tasks, journal);
  const run = createRun(batch, journal, stopping, reference);
  const over = new AbortController();
  limitTime(run, over.signal);
  try {
    const later = takeArrivals(run, async (first) => {
      const count = await findLostJobs(batch, first, journal, reference);
      return count === 0 ? first : await decideAgain(batch, first, journal);
    });
    return await carryAll(run, tasks, later);
  } finally {
    over.abort();
  }
}

/** The plan was made before the folder was locked: another run may have been at work since. */
async function decideAgain(
  batch: Batch,
  tasks: readonly Task[],
  journal: BatchJournal,
): Promise<readonly Task[]> {
  const { options, delivery, runtime, signal } = batch;
  const recorded = { intents: journal.intents, facts: foldItemFacts(journal.records()) };
  const { fresh, retryFailed } = options;
  const decisions = await decideItems(
    tasks.map(({ item }) => item),
    recorded,
    {
      now: runtime.now(),
      fresh,
      retryFailed,
      replace: delivery.existing === 'replace',
      hashFile: (path) => hashInput(path, signal),
    },
  );
  return tasks.map(({ item, decision }, position) => {
    const isThere = decision.step === 'done' && decision.before === 'exists';
    return { item, decision: isThere ? decision : (decisions[position] ?? decision) };
  });
}

/** A journal that is empty may have been lost. Gives how many jobs were found. */
async function findLostJobs(
  batch: Batch,
  tasks: readonly Task[],
  journal: BatchJournal,
  reference: string,
): Promise<number> {
  const { connection, options, runtime, signal, warn } = batch;
  const { rebuild: force, fresh } = options;
  if (tasks.length === 0 || fresh || !(force || journal.intents.byKey.size === 0)) return 0;
  const { client } = connection;
  try {
    const now = runtime.now();
    const items = tasks.map(({ item }) => item);
    const found = { items, client, journal, batchReference: reference, force, now, signal };
    const count = await rebuildJournal(found);
    if (count > 0) warn(`The record of this folder was lost; ${count} jobs were found again at the service.`);
    return count;
  } catch (error) {
    // A key may be allowed to make jobs and not to list them.
    if (force || !isApiAnswer(error, 403)) throw error;
    return 0;
  }
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
