/** Runs a localization in stages. Each stage is an ordinary run of jobs over all videos; users may edit subtitles in between. */

import { foldBatchCommands } from '../batch/report/command-record.ts';
import { readBatchLog } from '../batch/report/read-batch.ts';
import { createUnusableRecord, createUsableRecord, foldUnusable } from '../batch/report/unusable-inputs.ts';
import { openBatchJournal } from '../batch/run/journal.ts';
import type { Context } from '../context/context.ts';
import { Failure } from '../errors/failure.ts';
import type { LogRecord } from '../journal/record-line.ts';
import { createBatchView } from '../workflow/batch/view.ts';
import { tellShare } from '../workflow/jobs/plan-jobs.ts';
import { checkExports, exportVideos } from './export-videos.ts';
import { finishStages, printInterrupted } from './finish-stages.ts';
import { makeAudio, recognizeAll, translateAll } from './job-stages.ts';
import { planStages } from './plan-stages.ts';
import { stageRecord } from './run-stage.ts';
import type { StageOptions } from './stage-options.ts';
import type { StagePlan } from './stage-plan.ts';
import { openStagedRun, type StagedRun, unfinished } from './staged-run.ts';

/**
 * Runs the requested stages. What is done is skipped, unless something that it depends on has changed.
 * @param isRetry whether `batch retry` repeats the command: expired results are made again
 * @returns the exit code 0
 * @throws Failure that the command ends with
 */
export async function runStages(
  context: Context,
  operands: readonly string[],
  options: StageOptions,
  isRetry = false,
): Promise<number> {
  const plan = await planStages(context, operands, options);
  for (const note of plan.notes) context.terminal.note(note);
  if (!isRetry) tellShare(context, plan.delivery.shard, plan.order.length, plan.total);
  await checkExport(context, plan);
  const run = await openStagedRun(context, operands, options, plan, isRetry);
  try {
    await recordUnusable(run);
    await runAll(run);
    await finishStages(run);
    return 0;
  } catch (error) {
    if (!context.signal.aborted) throw error;
    await printInterrupted(run);
    throw context.signal.reason;
  } finally {
    await run.close();
  }
}

/** Checks that ffmpeg is installed, which the export needs with every service, before anything is paid. */
async function checkExport({ io }: Context, { choices, videos }: StagePlan): Promise<void> {
  const isDue =
    choices.stopAfter === null && videos.some(({ targets }) => targets.some((target) => !target.isSkipped));
  if (!isDue) return;
  const { createPrograms } = await import('../engines/programs.ts');
  const { locate } = createPrograms(io.env.PATH ?? '');
  const missing = ['ffmpeg', 'ffprobe'].find((program) => locate(program) === null);
  if (missing === undefined) return;
  throw new Failure({
    category: 'configuration',
    code: 'ENGINE_MISSING',
    message: `${missing} is not installed, and the finished video is put together on this machine; nothing was sent`,
    advice: 'vloc engines install',
  });
}

/**
 * Reports the files that cannot be used. Records them in the journal, for `batch status` and other commands, together with
 * the files that were fixed since an earlier run.
 */
async function recordUnusable(run: StagedRun): Promise<void> {
  const { context, plan, unusable } = run;
  const keys = new Set(plan.unusable.map(({ item }) => item.key));
  const { records: known } = await readBatchLog(plan.delivery);
  const before = [...foldUnusable(known).unusable.keys()];
  // Files that this command could not use before may have been removed from the folder.
  const own = new Set([...plan.order, ...itemsOfBefore(known, stageRecord(run, []))]);
  const fixed = before.filter((key) => own.has(key) && !keys.has(key));
  // The record of a shard shows that it has run, even if it has nothing to do.
  const isShard = plan.delivery.shard !== undefined;
  if (keys.size + fixed.length === 0 && !isShard) return;
  const atMs = context.io.now();
  const records = [
    ...(keys.size === 0 && !isShard ? [] : [stageRecord(run, [...keys])]),
    ...plan.unusable.map(({ item, detail }) => createUnusableRecord(item, detail, atMs)),
    ...fixed.map(createUsableRecord),
  ];
  const journal = await openBatchJournal(plan.delivery);
  await journal.add(...records).finally(() => journal.close());
  if (unusable.length === 0) return;
  const view = await createBatchView(context, { items: unusable.map(({ item }) => item) });
  for (const { item, state } of unusable) view.listener({ type: 'item', item, state, atMs });
  view.close();
}

/** Keys of the items of earlier runs of the same command. */
function itemsOfBefore(records: readonly LogRecord[], { argv, cwd }: LogRecord): readonly string[] {
  const identity = JSON.stringify([argv, cwd]);
  return foldBatchCommands(records)
    .filter((command) => JSON.stringify([command.argv, command.cwd]) === identity)
    .flatMap(({ items }) => items);
}

async function runAll(run: StagedRun): Promise<void> {
  const { signal } = run.context;
  const { stopAfter } = run.plan.choices;
  if (stopAfter === null) await checkExports(run);
  await recognizeAll(run);
  signal.throwIfAborted();
  // A target that reached --stop-after is done, even if others were stopped.
  if (stopAfter === 'recognize') return;
  skipStopped(run);
  await translateAll(run);
  signal.throwIfAborted();
  if (stopAfter === 'translate') return;
  skipStopped(run);
  // The texts are known now.
  await checkExports(run);
  const audioOf = await makeAudio(run);
  signal.throwIfAborted();
  // The export is free, so every target that has all its files is finished, even if others were stopped.
  await exportVideos(run, audioOf);
}

/** After a stop in one stage, targets do not start the next: the same reason would stop it again. */
function skipStopped(run: StagedRun): void {
  const stop = run.states.map(({ end }) => end).find((end) => end?.phase === 'left');
  if (stop?.phase !== 'left') return;
  // Without the id of the finished job of the previous stage, which would be reported as running.
  for (const state of unfinished(run)) state.end = { phase: 'left', jobId: null, because: stop.because };
}
