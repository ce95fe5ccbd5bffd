/** Runs a localization in stages: one batch of jobs, in which each video continues when its own previous stage has ended. */

import { configurationFailure } from '../../base/failure.ts';
import { mapConcurrently } from '../../batch/limiter.ts';
import { newestIntent } from '../../batch/plan/item-key.ts';
import type { BatchCommand } from '../../batch/report/command-record.ts';
import { createUnusableRecord, createUsableRecord } from '../../batch/report/unusable-inputs.ts';
import { openBatch } from '../../batch/run/open-batch.ts';
import { BESIDE_SLOTS } from '../../batch/run/run-items.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Context } from '../context/context.ts';
import { requireFfmpeg } from '../context/engines.ts';
import { tellShare } from '../jobs/plan-jobs.ts';
import { createExporter } from './export-videos.ts';
import { finishStages, printInterrupted } from './finish-stages.ts';
import { localizeVideo, settleAll } from './localize-video.ts';
import { collectStages, decideStages } from './plan-stages.ts';
import { createStageJobs, stageRecord } from './stage-jobs.ts';
import type { StageOptions } from './stage-options.ts';
import type { StagePlan } from './stage-plan.ts';
import { openStagedRun, type StagedRun } from './staged-run.ts';

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
  const collected = await collectStages(context, operands, options);
  const batch = await openBatch(collected.delivery);
  try {
    const { journal } = batch;
    const plan = await decideStages(context, options, collected, batch.recorded(), journal);
    if (!isRetry) tellShare(context, collected);
    await checkExport(context, plan);
    await runAll(await openStagedRun(context, operands, options, plan, journal, isRetry));
    return 0;
  } finally {
    await batch.close();
  }
}

/** Takes the videos through their stages, and prints how that ended. @throws as `runStages` */
async function runAll(run: StagedRun): Promise<void> {
  const { signal } = run.context;
  try {
    await recordUnusable(run);
    printWaits(run);
    showEnded(run);
    await runVideos(run);
    await finishStages(run);
  } catch (error) {
    if (!signal.aborted) throw error;
    await printInterrupted(run);
    throw signal.reason;
  } finally {
    await run.close();
  }
}

/** Checks that a usable ffmpeg is installed, which the export needs with every service, before anything is paid. */
async function checkExport(context: Context, { choices, videos }: StagePlan): Promise<void> {
  const isDue =
    choices.stopAfter === null && videos.some(({ targets }) => targets.some((target) => !target.isSkipped));
  if (!isDue) return;
  const { createPrograms } = await import('../../media/programs/programs.ts');
  const { locate } = createPrograms(context.io.env.PATH ?? '');
  const missing = ['ffmpeg', 'ffprobe'].find((program) => locate(program) === null);
  if (missing === undefined) return requireFfmpeg(context);
  throw configurationFailure(
    'ENGINE_MISSING',
    `${missing} is not installed, and the finished video is put together on this machine; nothing was sent`,
    'vloc engines install',
  );
}

/**
 * Records the files that cannot be used in the journal, for `batch status` and other commands, together with
 * the files that were fixed since an earlier run.
 */
async function recordUnusable(run: StagedRun): Promise<void> {
  const { context, plan, journal } = run;
  const keys = new Set(plan.unusable.map(({ item }) => item.key));
  const before = [...journal.checked.unusable.keys()];
  // Files that this command could not use before may have been removed from the folder.
  const own = new Set([...plan.order, ...itemsOfBefore(journal.commands, stageRecord(run, []))]);
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
  await journal.add(...records);
}

/** So many videos are named one by one. */
const MOST_NAMED = 10;

const STEPS: Partial<Record<JobKind, string>> = {
  subtitle_recognition: 'recognition',
  subtitle_translation: 'translation',
  dubbing: 'dub',
  audio_separation: 'separation',
};

/** Prints which videos wait for jobs of an earlier run, and which of the others wait for a review. */
function printWaits({ plan, states, runOptions, context }: StagedRun): void {
  const { intents } = plan.recorded;
  const { stopAfter } = plan.choices;
  const jobs: string[] = [];
  const reviews: string[] = [];
  for (const { target, end, steps, sourceSubtitle, targetSubtitle } of states) {
    if (end !== null || runOptions.fresh) continue;
    const { label } = target.item;
    const newest = steps.map(({ key, kind }) => ({ kind, intent: newestIntent(key, intents) }));
    const running = newest.find(({ intent }) => intent?.outcome.phase === 'accepted');
    const outcome = running?.intent?.outcome;
    const last = stopAfter === 'recognize' ? 'subtitle_recognition' : 'subtitle_translation';
    const given = stopAfter === 'recognize' ? sourceSubtitle : targetSubtitle;
    const isMade = newest.some(({ kind, intent }) => kind === last && intent?.outcome.phase === 'downloaded');
    if (running !== undefined && outcome?.phase === 'accepted')
      jobs.push(
        `${label} waits for its ${STEPS[running.kind]} (${outcome.record.job_id}), which is running.`,
      );
    else if (stopAfter !== null && (isMade || given !== null))
      reviews.push(`${label} waits for your review.`);
  }
  const waits = jobs.length === 0 ? [] : [...jobs, ...reviews];
  for (const wait of waits.slice(0, MOST_NAMED)) context.terminal.note(wait);
  const more = waits.length - MOST_NAMED;
  if (more > 0) context.terminal.note(`${more} more wait too; \`vloc batch status\` lists them.`);
}

/** Shows the items that have ended before the first stage. */
function showEnded({ states, unusable, view, context }: StagedRun): void {
  const atMs = context.io.now();
  for (const { target, end } of states)
    if (end !== null) view.listener({ type: 'item', item: target.item, state: end, atMs });
  for (const { item, state } of unusable) view.listener({ type: 'item', item, state, atMs });
}

/** Keys of the items of earlier runs of the same command. */
function itemsOfBefore(commands: readonly BatchCommand[], { argv, cwd }: BatchCommand): readonly string[] {
  const identity = JSON.stringify([argv, cwd]);
  return commands
    .filter((command) => JSON.stringify([command.argv, command.cwd]) === identity)
    .flatMap(({ items }) => items);
}

/** Each video goes through its stages by itself. */
async function runVideos(run: StagedRun): Promise<void> {
  const { view, context, states, runOptions } = run;
  const jobs = createStageJobs(run);
  const workshop = { run, jobs, exportVideo: createExporter(run) };
  const videos = [...Map.groupBy(states, ({ video }) => video).values()];
  const works: Promise<void>[] = [];
  try {
    await mapConcurrently(videos, runOptions.jobs + BESIDE_SLOTS, async (own) => {
      const work = localizeVideo(workshop, own);
      works.push(work);
      await work.catch(() => undefined);
    });
    await settleAll([...works, jobs.end()]);
    context.signal.throwIfAborted();
  } finally {
    view.close();
  }
}
