import { Failure, partialFailure, usageFailure } from '../../base/failure.ts';
import { flagOption } from '../../base/option.ts';
import { type BatchFacts, countFailed } from '../../batch/report/batch-facts.ts';
import { type Command, decodeOptions, defineCommand } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { serviceFlagsOf, writeCommand } from '../context/printed-command.ts';
import { printList } from '../context/records.ts';
import { checkFolder, jobTable } from '../jobs/job-options.ts';
import { outcomesFailure } from '../jobs/job-outcomes.ts';
import { runJobs } from '../jobs/run-jobs.ts';
import { asksForStages, localizeTable } from '../stages/stage-options.ts';
import {
  BATCH_OPERAND,
  type BatchFolder,
  combineRetries,
  continueBatch,
  type Retries,
  type RetryRun,
  readBatchFolders,
  selectRetries,
} from './batch-folders.ts';
import { BATCH_RETRY, ITEM_FIELDS, ITEMS } from './items.ts';

export const batchRetry: Command = defineCommand({
  operands: BATCH_OPERAND,
  options: {
    all: flagOption('also retry items that failed permanently, were cancelled or have expired'),
    dryRun: flagOption('list the items that would run; send nothing'),
  },
  fields: () => ITEM_FIELDS,
  examples: [
    { command: 'vloc batch retry out', explains: 'temporary failures, and files that may have been fixed' },
    { command: 'vloc batch retry out --all', explains: 'everything that failed, after its cause was fixed' },
  ],
  notes: [
    'Each item is run again by its last command, from the folder where that ran, with the same options and result names. ' +
      'Failed jobs were not charged; new ones are. Running jobs and results that were not downloaded or finished on this ' +
      'machine are continued without another charge, so an interrupted retry can be repeated. Unusable files are checked ' +
      'again. Items that were done or never sent are not changed.',
    'Exit codes: those of the commands that are run again; 3 if items failed and none is retried without --all; 0 if ' +
      'nothing failed.',
  ],
  prints: BATCH_RETRY,
  run: async (context, operands, options) => {
    const { batches, facts } = await readBatchFolders(context, operands);
    const retries = combineRetries(batches.map(({ facts: own }) => selectRetries(own, options.all)));
    printUnselected(context, retries, operands);
    const chosen = retries.runs.flatMap(({ items }) => items);
    if (options.dryRun) {
      await printList(context, ITEMS, { data: chosen });
    }
    if (chosen.length === 0) {
      if (countFailed(facts) + retries.orphans.length > 0)
        throw nothingToRetryFailure(facts, retries, operands, context);
      context.terminal.note(`Nothing failed in ${operands.join(', ')}.`);
      printWaiting(context, batches);
      return 0;
    }
    if (options.dryRun) return 0;
    const failure = await runAll(context, retries.runs);
    if (failure !== null) throw failure;
    return 0;
  },
});

/** Prints the commands for items whose requests an earlier run did not send. */
function printWaiting(context: Context, batches: readonly BatchFolder[]): void {
  const { note } = context.terminal;
  const waiting = batches.reduce((sum, { facts }) => sum + facts.counts.waiting, 0);
  if (waiting === 0) return;
  note(`${waiting === 1 ? '1 item was' : `${waiting} items were`} not sent yet. Continue with:`);
  for (const { folder, facts } of batches)
    for (const command of continueBatch(facts, folder, context)) note(`  ${command}`);
}

function printUnselected(
  context: Context,
  { runs, hopeless, orphans }: Retries,
  operands: readonly string[],
): void {
  const { terminal } = context;
  if (hopeless.length > 0 && runs.length > 0) {
    const what = hopeless.length === 1 ? '1 item' : `${hopeless.length} items`;
    terminal.note(`${what} failed permanently. Fix the cause, then run \`${retryAll(context, operands)}\`.`);
  }
  for (const { label } of orphans) {
    terminal.warn(`${label}: the record of its command is lost; run that command again with --retry-failed.`);
  }
}

/** The failure of a command that finds failed or unfinished items and runs none of them again. */
function nothingToRetryFailure(
  facts: BatchFacts,
  { hopeless, orphans }: Retries,
  operands: readonly string[],
  context: Context,
): Failure {
  const failed = countFailed(facts);
  const lost = orphans.length;
  const what = failed === 1 ? '1 item failed permanently' : `${failed} items failed permanently`;
  const unknown = `the commands of ${lost === 1 ? '1 item' : `${lost} items`} are unknown`;
  return partialFailure('NOTHING_TO_RETRY', `${lost === 0 ? what : unknown}; nothing was sent`, undefined, {
    ...(hopeless.length === 0
      ? {}
      : { advice: `Fix the cause, then run \`${retryAll(context, operands)}\`.` }),
    errors: hopeless.map(({ label, state, error }) => ({
      pointer: label,
      detail: error === null ? state : `${error.message} (${error.code})`,
    })),
  });
}

function retryAll(context: Context, operands: readonly string[]): string {
  return writeCommand(context, ['batch', 'retry', ...operands, '--all']);
}

/** Runs the commands in sequence: they use the same folder, which is locked during a run. */
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
  return outcomesFailure(outcomes, 'commands failed', 'See the messages of each above.');
}

/**
 * Repeats a recorded command in its folder, for these items only.
 * @throws Failure: that of the run, or `usage` for one that cannot be repeated from its record
 */
async function rerunCommand(context: Context, { command, items }: RetryRun): Promise<void> {
  const { argv, cwd, profile, kind, operands } = command;
  // Jobs that were begun are continued and downloaded, also if that command made new jobs or did not wait.
  const raw = { ...command.options, retryFailed: true, fresh: false, detach: false };
  const staged = kind === 'auto_localization' ? decodeOptions(localizeTable(), raw) : null;
  const options = staged ?? decodeOptions(jobTable(kind), raw);
  const readers = [...operands, options.body, options.filesFrom, options.filesFrom0, options.sheet];
  if (readers.includes('-')) throw notRepeatableFailure(argv);
  const { baseUrl } = serviceFlagsOf(argv);
  const then: Context = {
    ...context,
    io: { ...context.io, cwd },
    commandLine: argv,
    repeatedBy: context.commandLine,
    service: isNamed(context.service) ? context.service : { profile: profile ?? undefined, baseUrl },
  };
  await checkFolder(options, then.io);
  if (staged !== null && asksForStages(staged)) {
    // Stages skip items that are done, so they need no selection.
    const { runStages } = await import('../stages/run-stages.ts');
    await runStages(then, operands, staged, true);
    return;
  }
  await runJobs(kind, then, operands, options, { only: new Set(items.map(({ key }) => key)) });
}

function isNamed({ profile, baseUrl }: Context['service']): boolean {
  return profile !== undefined || baseUrl !== undefined;
}

function notRepeatableFailure(argv: readonly string[]): Failure {
  return usageFailure(
    'NOT_REPEATABLE',
    `the command read its input from stdin, which is not kept: ${argv.join(' ')}`,
    'Run it again with the same input and --retry-failed.',
  );
}
