/** A job command with --watch: files that come into folders are worked on as they come, until somebody stops it. */
import { createSettledPlanner, type SettledPlanner } from '../../batch/plan/plan-settled.ts';
import type { RunOutcome } from '../../batch/run/batch.ts';
import { summarizeOutcomes } from '../../batch/run/outcome.ts';
import { runBatch } from '../../batch/run/run-batch.ts';
import { connect } from '../../context/connection.ts';
import type { Context } from '../../context/context.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { createBatchView } from '../batch/view.ts';
import { exitCodeOf } from './exit-code.ts';
import { createPlanIo, readRequest } from './job-plan.ts';
import { batchOf, type JobRun } from './job-run.ts';
import { readHistory, warnOfDamage } from './read-history.ts';
import { readRunOptions } from './run-options.ts';
import { checkRequestSupport } from './support.ts';
import { checkWatch } from './watch-checks.ts';
import { printAsDone, printWatch, tellLeftOut } from './watch-output.ts';
import { createWatchSource, type WatchSource } from './watch-source.ts';

/**
 * Watches the folders that the operands name. What was done before is not sent again, and jobs that run are waited for.
 * @returns the exit code 0 when a limit of time has ended it and all is done
 * @throws Failure that the watch ended with; the reason of the signal
 */
export async function watchJobs(
  kind: JobKind,
  context: Context,
  operands: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<number> {
  const runOptions = readRunOptions(options);
  const request = await readRequest(kind, operands, options, context.io);
  warnOfDamage(context, await readHistory(context, options));
  const planIo = createPlanIo(context.io, { kind, options, signal: context.signal });
  const planner = createSettledPlanner(request, planIo);
  const { delivery } = planner;
  const place = { cwd: context.io.cwd, results: delivery.folder };
  const folders = await checkWatch(kind, operands, options, place);
  const connection = await connect(context);
  const run: JobRun = { kind, context, operands, options, runOptions, delivery, connection };
  try {
    for (const { fields } of planner.requests) {
      await checkRequestSupport(kind, fields, connection.capabilities);
    }
    await watch(run, folders, planner);
    return EXIT_CODES.done.code;
  } catch (error) {
    throw context.signal.aborted ? context.signal.reason : error;
  } finally {
    await connection.close();
  }
}

async function watch(run: JobRun, folders: readonly string[], planner: SettledPlanner): Promise<void> {
  const { context, operands } = run;
  context.terminal.note(`Watching ${operands.join(', ')}: files are taken as they come, until Ctrl-C.`);
  const source = createWatchSource(run, folders, planner, (problem) => tellLeftOut(context, problem));
  const outcomes = await runWatched(run, source);
  await printWatch(run, outcomes);
  if (context.signal.aborted) throw context.signal.reason;
  const failure = source.failure ?? summarizeOutcomes(outcomes);
  if (failure !== null) throw failure;
}

async function runWatched(run: JobRun, source: WatchSource): Promise<readonly RunOutcome[]> {
  const { context } = run;
  const view = await createBatchView(context, { items: [], grows: true });
  try {
    const outcomes = await runBatch({
      ...batchOf(run),
      tasks: [],
      more: source.more,
      // Each record of the command comes with the items that it is for.
      preface: [],
      listen: (event) => {
        source.listen(event);
        view.listener(event);
        printAsDone(context, event);
      },
    });
    view.summarize(outcomes, exitCodeOf(context, source.failure ?? summarizeOutcomes(outcomes)));
    return outcomes;
  } finally {
    view.close();
  }
}
