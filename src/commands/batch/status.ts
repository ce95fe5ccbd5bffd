import { type Failure, partialFailure, timeoutFailure } from '../../base/failure.ts';
import { choiceOption, flagOption } from '../../base/option.ts';
import {
  type BatchFacts,
  countFailed,
  countOpen,
  FAILED_STATES,
  reportDocument,
} from '../../batch/report/batch-facts.ts';
import { describeItemCosts } from '../../batch/report/costs.ts';
import type { ItemReport, ReportState } from '../../batch/report/item-report.ts';
import { describeMissing } from '../../batch/report/shard-facts.ts';
import { SYSTEM_RUNTIME } from '../../client/runtime.ts';
import { type Command, defineCommand } from '../context/command.ts';
import type { Context, Progress, WorkSummary } from '../context/context.ts';
import { formatRelative, showPath } from '../context/format.ts';
import { writeCommand } from '../context/printed-command.ts';
import { cutFields, presentRows, printList } from '../context/records.ts';
import { warnOfDamage } from '../jobs/plan-jobs.ts';
import { printProvenance } from '../screen/print-provenance.ts';
import { describeAttention, readAttention } from './attention.ts';
import { BATCH_OPERAND, type BatchFolders, continueBatch, readBatchFolders } from './batch-folders.ts';
import { BATCH_STATUS, countTable, ITEM_FIELDS, ITEMS, shardTable, tableOf } from './items.ts';

export const batchStatus: Command = defineCommand({
  operands: BATCH_OPERAND,
  options: {
    all: flagOption('also list finished items'),
    failOn: choiceOption(
      ['attention'],
      'with attention: exit with 3 if something needs a person, as `vloc batch report --attention` lists it',
    ),
    watch: flagOption('refresh every two seconds until everything has finished, or Ctrl-C', { tool: 'no' }),
  },
  fields: () => ITEM_FIELDS,
  examples: [
    {
      command: 'vloc batch status out',
      explains: 'which items are done, which failed and why, and how to continue',
    },
    {
      command: 'vloc batch status out --watch',
      explains: 'watch a run in another window or on another machine',
    },
    {
      command: 'vloc batch status out -o json --jq ".items[] | select(.state == \\"failed\\") | .label"',
      explains: 'only the names of failed items',
    },
    {
      command: 'vloc batch status out-1 out-2 out-3',
      explains: 'the shards of several machines (--shard) as one batch',
    },
  ],
  notes: [
    'Reads only the journal in the folder, also during a run. Deadlines are those that the service reported, otherwise ' +
      'the latest possible time.',
    'Exit codes: 0 if everything is done, 8 if items are not finished or a shard has not run, 3 if everything has finished ' +
      'and items failed.',
  ],
  prints: BATCH_STATUS,
  run: async (context, operands, options) => {
    const batch = await (options.watch ? watchStatus : readBatchFolders)(context, operands);
    const { facts } = batch;
    const onward = batch.batches.flatMap(({ folder, facts: own }) => continueBatch(own, folder, context));
    const shown = options.all ? facts.items : facts.items.filter(({ state }) => state !== 'done');
    await printStatus(context, batch, shown, onward);
    printNotes(context, batch, onward);
    const failure = batchStatusFailure(facts);
    if (failure !== null) throw failure;
    if (options.failOn === undefined) return 0;
    const places = await readAttention(batch, context);
    if (places.length === 0) return 0;
    const words = ['batch', 'report', ...operands, '--attention'];
    const message = describeAttention(places).replace(/\.$/, '');
    throw partialFailure('NEEDS_ATTENTION', message, `List them: ${writeCommand(context, words)}`);
  },
});

async function printStatus(
  context: Context,
  { batches, facts }: BatchFolders,
  shown: BatchFacts['items'],
  onward: readonly string[],
): Promise<void> {
  const { fields, io } = context;
  const document = () => {
    const folders = batches.map(({ folder }) => folder);
    const head = { folders, madeAt: new Date(io.now()).toISOString() };
    const workers = batches.flatMap((each) => each.workers);
    const items = facts.items.map((item) => cutFields(item, fields));
    const worker = workers[0] ?? null;
    return { ...reportDocument(facts, head), items, worker, workers, continue_with: onward };
  };
  const pages = () => {
    const list = presentRows(context, tableOf(shown), shown).pages();
    if (fields !== null) return list;
    const totals = [countTable(facts), ...shardTable(facts, io.cwd)];
    return list.length === 0 ? totals : [...totals, '', ...list];
  };
  await printList(context, ITEMS, { data: shown }, { document, pages });
}

function printNotes(context: Context, { batches, facts }: BatchFolders, onward: readonly string[]): void {
  const { terminal, io } = context;
  const workers = batches.flatMap((batch) => batch.workers);
  const { items, next_deadline, open_questions, unnamed } = facts;
  for (const worker of workers) {
    const doubt = worker.certain ? '' : ', as far as this machine knows';
    terminal.note(
      `Process ${worker.pid} on ${worker.host} has been working on it since ${worker.since}${doubt}.`,
    );
  }
  const cost = describeItemCosts(items);
  if (cost !== null) terminal.note(`Cost: ${cost}.`);
  printProvenance(
    terminal,
    items.flatMap(({ provenance, ...item }) => (provenance === undefined ? [] : [{ ...item, provenance }])),
    io.cwd,
  );
  if (next_deadline !== null) {
    terminal.note(
      `The first result that was not downloaded expires ${formatRelative(next_deadline, io.now())}.`,
    );
  }
  if (open_questions.length > 0) {
    const what = open_questions.length === 1 ? 'One call has' : `${open_questions.length} calls have`;
    terminal.note(
      `${what} no answer yet; they are sent again with the same Idempotency-Key, so nothing is paid twice.`,
    );
  }
  warnOfDamage(
    terminal,
    batches.flatMap(({ damage }) => damage),
  );
  const missing = describeMissing(facts);
  if (missing !== null) terminal.warn(missing);
  if (unnamed.length > 0) {
    const more = unnamed.length > MOST_UNNAMED ? ` and ${unnamed.length - MOST_UNNAMED} more` : '';
    const labels = unnamed.slice(0, MOST_UNNAMED).join(', ');
    terminal.note(`Not counted, since no command names them any more: ${labels}${more}.`);
  }
  if (onward.length === 0 || workers.some(({ certain }) => certain)) return;
  terminal.note('Continue with:');
  for (const line of onward) terminal.note(`  ${line}`);
}

/** So many fit on a few lines. */
const MOST_UNNAMED = 5;

/** The failure that decides the exit code; null when everything is done. */
function batchStatusFailure(facts: BatchFacts): Failure | null {
  const open = countOpen(facts);
  const failed = countFailed(facts);
  const total = facts.items.length;
  const missing = describeMissing(facts);
  if (open === 0 && missing !== null) {
    return timeoutFailure(
      'BATCH_OPEN',
      `${missing.replace(/\.$/, '')}, so not all items are known`,
      'Run what is missing, or name the other folders of results too.',
      { retryable: true },
    );
  }
  if (open > 0) {
    return timeoutFailure(
      'BATCH_OPEN',
      `${open} of ${total} items are not finished${failed > 0 ? `, ${failed} failed` : ''}`,
      undefined,
      { retryable: true },
    );
  }
  if (failed === 0) return null;
  return partialFailure('SOME_FAILED', `${failed} of ${total} items failed`);
}

/** Reading the journal of hundreds of items takes milliseconds. */
const REFRESH_MS = 2_000;

/** States in which an item is in progress, according to the journal. */
const ACTIVE_STATES: readonly ReportState[] = ['unanswered', 'running', 'undelivered'];

/**
 * Shows the progress of a batch until no item is open; returns its last state.
 * @throws Failure as `readBatchFolders`; the reason of the signal, which ends it
 */
async function watchStatus(context: Context, operands: readonly string[]): Promise<BatchFolders> {
  const { io, terminal, signal } = context;
  const { sleep } = { ...SYSTEM_RUNTIME, ...io.pace?.runtime };
  let batch = await readBatchFolders(context, operands);
  const board = await terminal.board(() => summarizeWork(batch, io.now()));
  try {
    while (countOpen(batch.facts) > 0) {
      await sleep(REFRESH_MS, signal);
      const before = statesOf(batch.facts);
      batch = await readBatchFolders(context, operands);
      for (const item of batch.facts.items)
        if (before.get(idOf(item)) !== item.state) showItem(board, item, io.cwd);
    }
    return batch;
  } finally {
    board.close();
  }
}

/** Items of several folders may have the same key. */
function idOf({ folder = '', key }: ItemReport): string {
  return JSON.stringify([folder, key]);
}

function statesOf({ items }: BatchFacts): ReadonlyMap<string, ReportState> {
  return new Map(items.map((item) => [idOf(item), item.state]));
}

function showItem(board: Progress, { label, state, error, files }: ItemReport, cwd: string): void {
  if (state === 'done') board.end(label, 'done', files.map(({ path }) => showPath(path, cwd)).join(', '));
  else if (FAILED_STATES.some((each) => each === state)) board.end(label, 'failed', error?.message ?? state);
  else board.show(label, { phase: state, fraction: null });
}

function summarizeWork({ facts, batches }: BatchFolders, nowMs: number): WorkSummary {
  const { items, counts, next_deadline } = facts;
  const going = items.filter(({ state }) => ACTIVE_STATES.includes(state));
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
    cost: describeItemCosts(items),
    slots: null,
    deadline: next_deadline,
    stop: batches.every(({ workers }) => workers.length === 0) ? 'no process works on it' : null,
  };
}
