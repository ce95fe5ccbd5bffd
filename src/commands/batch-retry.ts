import type { ItemReport } from '../batch/report/item-report.ts';
import { type RetryRun, selectRetries } from '../batch/report/select-retries.ts';
import { Failure } from '../client/failure.ts';
import { ITEM_FIELDS, ITEMS } from './batch/item-records.ts';
import { BATCH_OPERAND, openBatch } from './batch/open-batch.ts';
import { rerunCommand } from './batch/rerun-command.ts';
import { type Command, defineCommand } from './command.ts';
import type { Context } from './context.ts';
import { summarizeFailures } from './job/outcome.ts';
import { printList } from './records.ts';

export const batchRetry: Command = defineCommand({
  operands: BATCH_OPERAND,
  options: {
    all: { type: 'flag', help: 'run also what would most likely fail again, was cancelled or has expired' },
    dryRun: { type: 'flag', help: 'list what would run; nothing is sent' },
  },
  fields: () => ITEM_FIELDS,
  examples: [
    { command: 'vloc batch retry out', explains: 'what failed for reasons that may have passed' },
    { command: 'vloc batch retry out --all', explains: 'everything that failed, after it was mended' },
  ],
  notes: [
    'Each item runs with the command that it was run with last, in the folder that this command ran in: same options, ' +
      'same names of results. A failed job has released its credits; the new one is paid. What is done, or still ' +
      'running, is left alone.',
    'Exit codes: those of the command that runs again; 0 when nothing was to be run.',
  ],
  run: async (context, [operand = ''], options) => {
    const { facts, folder } = await openBatch(context, operand);
    const retries = selectRetries(facts, options.all);
    tell(context, retries.hopeless, retries.orphans);
    const chosen = retries.runs.flatMap(({ items }) => items);
    if (options.dryRun) {
      await printList(context, ITEMS, { data: chosen, has_more: false, next_cursor: null });
      return 0;
    }
    if (chosen.length === 0) {
      context.terminal.note(`Nothing to run again in ${folder}.`);
      return 0;
    }
    const failure = await runAll(context, retries.runs);
    if (failure !== null) throw failure;
    return 0;
  },
});

function tell({ terminal }: Context, hopeless: readonly ItemReport[], orphans: readonly ItemReport[]): void {
  if (hopeless.length > 0) {
    const [what, them] = hopeless.length === 1 ? ['One item', 'it'] : [`${hopeless.length} items`, 'them'];
    terminal.note(`${what} would most likely fail again; mend the cause and run ${them} with --all.`);
  }
  for (const { label } of orphans) {
    terminal.warn(`${label}: the record of its command is lost; run that command again with --retry-failed.`);
  }
}

/** One command after the other: they work in the same folder, which only one at a time may. */
async function runAll(context: Context, runs: readonly RetryRun[]): Promise<Failure | null> {
  const outcomes: { label: string; failure: Failure | null }[] = [];
  for (const run of runs) {
    const label = run.command.argv.join(' ');
    try {
      await rerunCommand(context, run);
      outcomes.push({ label, failure: null });
    } catch (error) {
      if (context.signal.aborted || !(error instanceof Failure)) throw error;
      outcomes.push({ label, failure: error });
    }
  }
  return summarizeFailures(outcomes, 'commands did not come to a good end', 'See what each of them said.');
}
