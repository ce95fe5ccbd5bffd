/** Looks at a batch again and again, until everything has finished. */

import { type BatchFacts, countFailed, countOpen, FAILED_STATES } from '../../batch/report/batch-facts.ts';
import type { ItemReport, ReportState } from '../../batch/report/item-report.ts';
import { SYSTEM_RUNTIME } from '../../client/runtime.ts';
import type { Context, Progress, WorkPicture } from '../../context/context.ts';
import { showPath } from '../../context/format.ts';
import { type OpenBatch, openBatch } from './open-batch.ts';

/** The journal of hundreds of items is read in milliseconds, and nothing in it changes faster than people read. */
const REFRESH_MS = 2_000;

/** States in which something is going on, as far as the journal can tell. */
const GOING: readonly ReportState[] = ['unanswered', 'running', 'undelivered'];

/**
 * Shows how the batch stands until nothing of it is open, and gives how it stood last.
 * @throws Failure as `openBatch`; the reason of the signal, which ends it
 */
export async function watchStatus(context: Context, operand: string): Promise<OpenBatch> {
  const { io, terminal, signal } = context;
  const { sleep } = { ...SYSTEM_RUNTIME, ...io.pace?.runtime };
  let batch = await openBatch(context, operand);
  const board = await terminal.board(() => pictureOf(batch, io.now()));
  try {
    while (countOpen(batch.facts) > 0) {
      await sleep(REFRESH_MS, signal);
      const before = statesOf(batch.facts);
      batch = await openBatch(context, operand);
      for (const item of batch.facts.items)
        if (before.get(item.key) !== item.state) tell(board, item, io.cwd);
    }
    return batch;
  } finally {
    board.close();
  }
}

function statesOf({ items }: BatchFacts): ReadonlyMap<string, ReportState> {
  return new Map(items.map(({ key, state }) => [key, state]));
}

function tell(board: Progress, { label, state, error, files }: ItemReport, cwd: string): void {
  if (state === 'done') board.end(label, 'done', files.map(({ path }) => showPath(path, cwd)).join(', '));
  else if (FAILED_STATES.some((each) => each === state)) board.end(label, 'failed', error?.message ?? state);
  else board.show(label, { phase: state, fraction: null });
}

function pictureOf({ facts, worker }: OpenBatch, nowMs: number): WorkPicture {
  const { items, counts, credits, next_deadline } = facts;
  const going = items.filter(({ state }) => GOING.includes(state));
  return {
    running: going.map(({ label, state, created_at, asked_at }) => ({
      label,
      step: { phase: state, fraction: null },
      since: Date.parse(created_at ?? asked_at ?? '') || nowMs,
    })),
    counts: {
      total: items.length,
      done: counts.done,
      running: going.length,
      waiting: counts.waiting,
      failed: countFailed(facts),
      left: 0,
    },
    leftMs: null,
    credits,
    slots: null,
    deadline: next_deadline,
    stop: worker === null ? 'no process works on it' : null,
  };
}
