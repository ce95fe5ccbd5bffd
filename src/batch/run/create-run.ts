/** Creates the state of a run. */

import { createInputs } from '../../base/find-input.ts';
import { pause } from '../../client/transport/retry.ts';
import { DOWNLOADS } from '../deliver/deliver-results.ts';
import type { BatchItem } from '../item.ts';
import { createLimiter } from '../limiter.ts';
import { readPartKey } from '../plan/item-key.ts';
import { fileOf } from '../plan/items.ts';
import type { BatchRecord } from '../records/batch-records.ts';
import { type Batch, isEndless, type Task } from './batch.ts';
import { type Budget, createBudget } from './budget.ts';
import type { BatchJournal } from './journal.ts';
import { createLauncher } from './launcher.ts';
import { createNote } from './note.ts';
import { createTeller } from './part-states.ts';
import { createPreparations } from './preparations.ts';
import type { Rebuild } from './rebuild.ts';
import type { Run } from './run.ts';
import { createSources } from './sources.ts';
import { type Stopping, stopReasonOf, whyStopped } from './stopping.ts';
import { createBatchUploads } from './uploads.ts';

type CountedItem = Pick<BatchItem, 'key' | 'kind'>;

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
    budget.countEarlier(() => countEarlierBills(budget, others, journal));
    const { reserved, charged, unknown } = budget.totals();
    // A run that finds everything done still reports the costs.
    if (charged + reserved + unknown > 0) reportCredits();
  }
  function reportCredits(): void {
    const [committed, ofThisRun] = [budget.committed(), budget.ofThisRun()];
    listen({ type: 'credits', ...budget.totals(), committed, ofThisRun });
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
    downloads: createLimiter(DOWNLOADS),
    // A service on this machine reports more if jobs are read individually, and that costs nothing.
    wait: connection.everyMs === null ? jobs.waitTogether() : jobs.wait,
    batchReference: reference,
    rebuild,
    following,
    streak,
    tell,
    note,
    inputs,
    countBills,
    canAfford: (kind, units) => budget.judge(kind, units) !== 'stop',
    pause: (ms) => pause(runtime, ms, stopping.launching),
    takeBill(item, key, { billing }): readonly BatchRecord[] {
      const bill = budget.bill(item.key, item.kind, billing, item.units);
      reportCredits();
      launcher.lookAgain();
      return billing === null && bill.quantity === null ? [] : [{ type: 'billed', key, ...bill }];
    },
    judge(failure) {
      if (failure.facts.category === 'temporary') streak.inARow += 1;
      const reason = stopReasonOf(failure, { inARow: streak.inARow, inFlight: following.jobs });
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

/** Counts what these items cost in earlier runs towards the limit. */
function countEarlierBills(
  budget: Budget,
  items: readonly CountedItem[],
  { intents, bills }: BatchJournal,
): void {
  if (items.length === 0) return;
  const kinds = new Map(items.map(({ key, kind }) => [key, kind]));
  for (const [item, keys] of intents.byItem) {
    const kind = kinds.get(readPartKey(item)?.item ?? item);
    if (kind === undefined) continue;
    for (const key of keys) {
      const bill = bills.get(key);
      // The newest may still be running, and this run replaces its bill.
      if (bill !== undefined) budget.bill(key === keys.at(-1) ? item : key, kind, bill);
    }
  }
}
