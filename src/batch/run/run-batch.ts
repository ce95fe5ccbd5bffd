/**
 * Runs a batch so that nothing is paid twice and no paid result is lost, whenever it is killed and however often it is
 * started. Source: design, "The record (journal)".
 */

import { dirname, join } from 'node:path';
import { decideItems } from '../plan/decide-items.ts';
import { foldItemFacts } from '../plan/facts.ts';
import { findRenamed } from '../plan/renamed.ts';
import { journalPath } from '../record-folder.ts';
import type { Batch, RunOutcome, Task } from './batch.ts';
import { nameBatch } from './client-reference.ts';
import { createRun } from './create-run.ts';
import { type BatchJournal, openBatchJournal } from './journal.ts';
import { hashInput } from './known-uploads.ts';
import { findDoubt } from './lost-jobs.ts';
import { createRebuild, mayPay } from './rebuild.ts';
import type { Run } from './run.ts';
import { prepareArrivals, runItems } from './run-items.ts';
import { createStopping, type Stopping } from './stopping.ts';

/**
 * Runs all items, including those that arrive during the run. The outcomes are in the order of the items.
 * @throws Failure: `temporary` (BATCH_LOCKED, LOCK_LOST) if another process works in the folder, `disk` (JOURNAL_DAMAGED if
 *   the journal is damaged and the service cannot be asked which jobs it has); the reason of the signal if it is aborted
 *   before the first item starts; internal errors
 */
export async function runBatch(batch: Batch): Promise<readonly RunOutcome[]> {
  const journal = batch.journal ?? (await openBatchJournal(batch.delivery));
  const stopping = createStopping(batch.signal, (reason, message) =>
    batch.listen({ type: 'stop', reason, message }),
  );
  const stopLost = () => stopping.stop('broken', journal.lost.reason.message);
  journal.lost.addEventListener('abort', stopLost);
  try {
    const outcomes = await runLocked(batch, journal, stopping);
    journal.lost.throwIfAborted();
    return outcomes;
  } finally {
    stopping.end();
    journal.lost.removeEventListener('abort', stopLost);
    if (batch.journal === undefined) await journal.close();
  }
}

async function runLocked(batch: Batch, journal: BatchJournal, stopping: Stopping) {
  tellDamage(batch, journal);
  const name = await nameBatch(journal, batch.delivery);
  if (batch.preface.length > 0) await journal.add(...batch.preface);
  const rebuild = await createRebuild({ batch, journal, name });
  const takeUp = async (found: readonly Task[]) => {
    const tasks = await takeUpRenamed(batch, found, journal);
    const unpaid = tasks.filter(({ item, decision }) => mayPay(item, decision));
    const count = await rebuild.takeUp(unpaid.map(({ item }) => item));
    if (count === 0) return tasks;
    batch.warn(
      `The record of this folder ${journal.isNew ? 'was lost' : 'is incomplete'}; ${count} jobs were found again at the service.`,
    );
    return decideAgain(batch, tasks, journal);
  };
  const tasks = await takeUp(await decideAgain(batch, batch.tasks, journal));
  const run = createRun({ batch, journal, stopping, reference: name.batch, rebuild });
  const over = new AbortController();
  limitTime(run, over.signal);
  try {
    return await runItems(run, tasks, prepareArrivals(run, takeUp));
  } finally {
    over.abort();
  }
}

/** Warns about what follows from a damaged journal; the plan has reported the damage itself. */
function tellDamage({ warn, delivery, options }: Batch, journal: BatchJournal): void {
  const doubt = findDoubt(journal.records(), null);
  if (doubt === null) return;
  const kept = doubt.kept.map((file) => join(dirname(journalPath(delivery)), file)).join(', ');
  warn(
    `The record of ${delivery.folder} was damaged${kept === '' ? '' : ` and is kept as it was found in ${kept}`}. ` +
      (options.fresh
        ? 'With --fresh new jobs are made without asking the service which jobs it lost.'
        : 'Before a job is made, the service is asked which jobs it has.'),
  );
}

/** Gives renamed inputs the jobs that they had under their earlier names, and decides again if there are any. */
async function takeUpRenamed(
  batch: Batch,
  tasks: readonly Task[],
  journal: BatchJournal,
): Promise<readonly Task[]> {
  const { options, runtime, signal } = batch;
  const recorded = { intents: journal.intents, facts: foldItemFacts(journal.records()) };
  const items = tasks.map(({ item }) => item);
  const renamed = await findRenamed(items, recorded, {
    now: runtime.now(),
    fresh: options.fresh,
    hashFile: (path) => hashInput(path, signal),
  });
  if (renamed.length === 0) return tasks;
  await journal.add(...renamed);
  return decideAgain(batch, tasks, journal);
}

/** Decides again, since another run may have worked in the folder before it was locked. */
async function decideAgain(
  batch: Batch,
  tasks: readonly Task[],
  journal: BatchJournal,
): Promise<readonly Task[]> {
  const { options, delivery, runtime, signal } = batch;
  const recorded = { intents: journal.intents, facts: foldItemFacts(journal.records()) };
  const { fresh, retryFailed, skipDone } = options;
  const decisions = await decideItems(
    tasks.map(({ item }) => item),
    recorded,
    {
      now: runtime.now(),
      fresh,
      retryFailed,
      skipDone,
      replace: delivery.existing === 'replace',
      hashFile: (path) => hashInput(path, signal),
    },
  );
  return tasks.map((task, position) => {
    const { decision } = task;
    const now = decisions[position] ?? decision;
    // Existing files that were not made by vloc are not in the journal.
    const isThere = decision.step === 'done' && decision.before === 'exists';
    const isConflict = decision.step === 'unusable' && ['new', 'changed', 'edited'].includes(now.step);
    return { ...task, decision: isThere || isConflict ? decision : now };
  });
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
