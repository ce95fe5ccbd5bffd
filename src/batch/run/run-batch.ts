/**
 * Runs a batch so that nothing is paid twice and no paid result is lost, whenever it is killed and however often it is
 * started. Source: design, "The record (journal)".
 */

import { dirname, join } from 'node:path';
import { decideItems } from '../plan/decide-items.ts';
import { recordsPath } from '../record-folder.ts';
import type { Batch, RunOutcome, Task } from './batch.ts';
import { nameBatch } from './client-reference.ts';
import { createRun } from './create-run.ts';
import { findDoubt } from './lost-jobs.ts';
import { choicesOf, recordedIn } from './open-batch.ts';
import { createRebuild, mayPay, type Rebuild } from './rebuild.ts';
import type { Run } from './run.ts';
import { prepareArrivals, runItems } from './run-items.ts';
import { createStopping, type Stopping } from './stopping.ts';

/**
 * Runs all items, including those that arrive during the run. The outcomes are in the order of the items.
 * @throws Failure: `temporary` (LOCK_LOST) if another process has taken over the folder, `disk` (JOURNAL_DAMAGED if the
 *   journal is damaged and the service cannot be asked which jobs it has); the reason of the signal if it is aborted before
 *   the first item starts; internal errors
 */
export async function runBatch(batch: Batch): Promise<readonly RunOutcome[]> {
  const { journal } = batch;
  const stopping = createStopping(batch.signal, (reason, message) =>
    batch.listen({ type: 'stop', reason, message }),
  );
  const stopLost = () => stopping.stop('broken', journal.lost.reason.message);
  journal.lost.addEventListener('abort', stopLost);
  try {
    const outcomes = await runAll(batch, stopping);
    journal.lost.throwIfAborted();
    return outcomes;
  } finally {
    stopping.end();
    journal.lost.removeEventListener('abort', stopLost);
  }
}

async function runAll(batch: Batch, stopping: Stopping): Promise<readonly RunOutcome[]> {
  const { journal } = batch;
  warnOfDamage(batch);
  const name = await nameBatch(journal, batch.delivery);
  if (batch.preface.length > 0) await journal.add(...batch.preface);
  const rebuild = await createRebuild({ batch, journal, name });
  const adopt = (tasks: readonly Task[]) => adoptLostJobs(batch, rebuild, tasks);
  const tasks = await adopt(batch.tasks);
  const run = createRun({ batch, stopping, reference: name.batch, rebuild });
  const over = new AbortController();
  limitTime(run, over.signal);
  try {
    return await runItems(run, tasks, prepareArrivals(run, adopt));
  } finally {
    over.abort();
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
