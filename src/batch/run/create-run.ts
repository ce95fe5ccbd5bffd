/** Puts the parts of a run together. */

import { pause } from '../../client/transport/retry-loop.ts';
import type { LogRecord } from '../../journal/record-line.ts';
import type { Batch } from './batch.ts';
import { readBills, writeBill } from './bills.ts';
import { type Budget, createBudget } from './budget.ts';
import { DOWNLOADS } from './downloads.ts';
import type { BatchJournal } from './journal.ts';
import { createLauncher } from './launcher.ts';
import { createLimiter } from './limiter.ts';
import { createNote } from './note.ts';
import type { Run } from './run.ts';
import { createSources } from './sources.ts';
import { stopReasonOf } from './stop.ts';
import type { Stopping } from './stopping.ts';
import { createBatchUploads } from './uploads.ts';

export function createRun(batch: Batch, journal: BatchJournal, stopping: Stopping, reference: string): Run {
  const { options, runtime, listen, connection, records } = batch;
  const budget = createBudget(options.maxCredits);
  if (!options.fresh) countEarlierBills(budget, batch, journal);
  const parts = { runtime, slots: records.slots, budget, stopping, most: options.jobs, listen };
  const launcher = createLauncher(parts);
  const streak = { inARow: 0 };
  const following = { jobs: 0 };
  const tell: Run['tell'] = (item, state) => listen({ type: 'item', item, state, atMs: runtime.now() });
  const note = createNote(batch.warn);
  const { jobs } = connection.client;
  return {
    batch,
    journal,
    stopping,
    launcher,
    sources: createSources(batch, createBatchUploads({ batch, stopping, tell, note }), stopping),
    downloads: createLimiter(DOWNLOADS),
    // A service on this machine tells more when each is asked for, and it costs nothing.
    wait: connection.everyMs === null ? jobs.waitTogether() : jobs.wait,
    batchReference: reference,
    following,
    streak,
    tell,
    note,
    pause: (ms) => pause(runtime, ms, stopping.launching),
    takeBill(item, key, { billing }): readonly LogRecord[] {
      budget.bill(item.key, item.kind, billing);
      listen({ type: 'credits', ...budget.totals() });
      launcher.lookAgain();
      return billing === null ? [] : [writeBill(key, billing)];
    },
    judge(failure) {
      if (failure.facts.category === 'temporary') streak.inARow += 1;
      const reason = stopReasonOf(failure, { inARow: streak.inARow, inFlight: following.jobs });
      if (reason !== null) stopping.stop(reason);
      return failure;
    },
  };
}

/** What these items have cost in earlier runs counts towards the limit. */
function countEarlierBills(budget: Budget, { tasks }: Batch, { intents, records }: BatchJournal): void {
  const bills = readBills(records());
  for (const {
    item: { key: item, kind },
  } of tasks) {
    const keys = intents.byItem.get(item) ?? [];
    for (const key of keys) {
      const bill = bills.get(key);
      // The newest may still run: what this run learns of it comes in the place of what is known.
      if (bill !== undefined) budget.bill(key === keys.at(-1) ? item : key, kind, bill);
    }
  }
}
