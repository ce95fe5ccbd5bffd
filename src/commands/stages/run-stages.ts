/** Runs a localization in stages: one batch of jobs, in which each video continues when its own previous stage has ended. */

import { configurationFailure } from '../../base/failure.ts';
import { mapConcurrently } from '../../base/together.ts';
import { isCopied } from '../../batch/input.ts';
import type { BatchOutcome } from '../../batch/item.ts';
import { combineJobs } from '../../batch/item-provenance.ts';
import { firstLook } from '../../batch/recipes/stages.ts';
import { newestAttempt } from '../../batch/records/item-key.ts';
import { reportItems } from '../../batch/report/batch-facts.ts';
import type { ItemReport } from '../../batch/report/item-report.ts';
import { readBatchRecords } from '../../batch/report/read-batch.ts';
import type { RunOutcome } from '../../batch/run/batch.ts';
import { summarizeFailure } from '../../batch/run/outcome.ts';
import { BESIDE_SLOTS } from '../../batch/run-batch.ts';
import { createPrograms } from '../../media/programs/programs.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { roundCredits } from '../../protocol/metering.ts';
import type { Context } from '../context/context.ts';
import { requireFfmpeg } from '../context/engines.ts';
import { goOnCommand, sameCommand } from '../context/printed-command.ts';
import { isForPeople, openCommand } from '../jobs/continuation.ts';
import { drive, type Ending, recordInputs } from '../jobs/drive.ts';
import { type Outcome, toOutcome } from '../jobs/job-outcomes.ts';
import { noteShard } from '../jobs/plan-jobs.ts';
import { reportSamples } from '../jobs/sample.ts';
import { createVideoCheck } from './check-video.ts';
import { createExporter } from './export-videos.ts';
import { localizeVideo, settleAll } from './localize-video.ts';
import { collectStages, decideStages } from './plan-stages.ts';
import type { StageOptions } from './stage-options.ts';
import { listKinds, listTargets, plannedOf, type StagePlan } from './stage-plan.ts';
import { createStageJobs, openStagedRun, type StagedRun } from './staged-run.ts';

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
  const { command, collected } = await collectStages(context, operands, options, isRetry);
  return drive(command, async (driven) => {
    const plan = await decideStages(context, options, collected, driven.recorded(), driven.journal);
    if (!isRetry) noteShard(context, collected);
    await checkExport(context, plan);
    const run = await openStagedRun(driven, plan);
    await recordInputs(run, { planned: plannedOf(plan), renamed: [] }, true);
    noteWaits(run);
    showEnded(run);
    const jobs = await runVideos(run).catch((error: unknown) => {
      if (!context.signal.aborted) throw error;
      return null;
    });
    return endingOf(run, jobs);
  });
}

/** Checks that a usable ffmpeg is installed, which the export needs with every service, before anything is paid. */
async function checkExport(context: Context, plan: StagePlan): Promise<void> {
  if (!listTargets(plan).some(({ recipe }) => firstLook(recipe).does === 'export')) return;
  const { locate } = createPrograms(context.io.env.PATH ?? '');
  const missing = ['ffmpeg', 'ffprobe'].find((program) => locate(program) === null);
  if (missing === undefined) return requireFfmpeg(context);
  throw configurationFailure(
    'ENGINE_MISSING',
    `${missing} is not installed, and the finished video is put together on this machine; nothing was sent`,
    'vloc engines install',
  );
}

/** So many videos are named one by one. */
const MOST_NAMED = 10;

/** Prints which videos wait for jobs of an earlier run, and which of the others wait for a review. */
function noteWaits({ plan, states, runOptions, context }: StagedRun): void {
  const { attempts } = plan.recorded;
  const { stopAfter } = plan.choices;
  const jobs: string[] = [];
  const reviews: string[] = [];
  for (const { target, end, steps, recipe, sourceSubtitle, targetSubtitle } of states) {
    if (end !== null || runOptions.fresh) continue;
    const { label } = target.item;
    const newest = steps.map(({ key, kind }) => ({ kind, attempt: newestAttempt(key, attempts) }));
    const running = newest.find(({ attempt }) => attempt?.state === 'accepted');
    const last = firstLook(recipe).goal.kind;
    const given = stopAfter === 'recognize' ? sourceSubtitle : targetSubtitle;
    const isMade = newest.some(({ kind, attempt }) => kind === last && attempt?.state === 'downloaded');
    if (running !== undefined)
      jobs.push(
        `${label} waits for its ${KINDS[running.kind].work} (${running.attempt?.job_id}), which is running.`,
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

/** Each video goes through its stages by itself. @returns the outcomes of their jobs */
async function runVideos(run: StagedRun): Promise<readonly BatchOutcome[]> {
  const { context, states, runOptions } = run;
  const jobs = createStageJobs(run);
  const workshop = { run, jobs, exportVideo: createExporter(run) };
  const checkVideo = createVideoCheck(run);
  const videos = [...Map.groupBy(states, ({ video }) => video).values()];
  const works: Promise<void>[] = [];
  await mapConcurrently(videos, runOptions.jobs + BESIDE_SLOTS, async (own) => {
    const work = checkVideo(own)
      .then(() => localizeVideo(workshop, own))
      .then(() => jobs.gather(own));
    works.push(work);
    await work.catch(() => undefined);
  });
  await settleAll([...works, jobs.end()]);
  context.signal.throwIfAborted();
  for (const note of jobs.notes()) context.terminal.note(note);
  return jobs.outcomes();
}

/** How the run ended, with the cost of all stages of each target. @param jobs their outcomes; null if the run was stopped */
async function endingOf(run: StagedRun, jobs: readonly BatchOutcome[] | null): Promise<Ending> {
  const { context, view, plan, states } = run;
  const { stopAfter } = plan.choices;
  const ended = endedOf(run);
  const outcomes = ended.map(({ outcome }) => outcome);
  const isLeft = jobs === null || outcomes.some(({ state }) => state.phase === 'left');
  const isFree = run.served()?.connection.isFree === true;
  const done = states.filter(({ end }) => end?.phase === 'done').length;
  const stopped = `Stopped: ${done} of ${outcomes.length} done. Running jobs and downloaded results are kept; nothing is lost.`;
  return {
    ...{ view, outcomes, isFree, ...(await withJobs(run, ended)) },
    failure: summarizeFailure(outcomes, listKinds(plan)),
    sample: isLeft || stopAfter !== null ? null : reportSamples(context, jobs, ratiosOf(run)),
    notes: jobs === null ? [stopped] : stopAfter === null ? [] : describeReview(run),
    next: stopAfter === null ? describeNextSteps(run, isFree) : [],
    goesOn: isLeft,
  };
}

/** How much longer each video is than its sample, by its name. */
function ratiosOf({ plan }: StagedRun): ReadonlyMap<string, number> {
  const samples = plan.videos.flatMap(({ item: { input } }): [string, number][] => {
    const whole = input.sample?.whole.seconds ?? null;
    return whole === null ? [] : [[input.name, whole / (input.seconds ?? whole)]];
  });
  return new Map(samples);
}

/** The outcome of a target or an unusable item, with the keys of the items whose jobs it costs. */
interface Ended {
  readonly outcome: RunOutcome;
  readonly keys: readonly string[];
}

/** All outcomes in the order of the inputs. */
function endedOf({ states, files, unusable, plan }: StagedRun): readonly Ended[] {
  const order = new Map(plan.order.map((key, position) => [key, position]));
  const placeOf = ({ outcome: { item } }: Ended) => order.get(item.key) ?? 0;
  return [
    ...states.map(({ target, end, jobId, steps }): Ended => {
      const state = end ?? { phase: 'left', jobId, because: 'interrupted' };
      return { outcome: { item: target.item, state, job: null }, keys: steps.map(({ key }) => key) };
    }),
    ...files.map(({ item, end }): Ended => {
      const left = { phase: 'left', jobId: null, because: 'interrupted' } as const;
      return { outcome: end ?? { item, state: left, job: null }, keys: [] };
    }),
    ...unusable.map((outcome): Ended => ({ outcome, keys: [] })),
  ].toSorted((left, right) => placeOf(left) - placeOf(right));
}

/** One result for each video and target language, and the sum, with the cost and the provenance of all stages in all runs. */
async function withJobs(
  { context, plan: { delivery } }: StagedRun,
  ended: readonly Ended[],
): Promise<Pick<Ending, 'printed' | 'credits'>> {
  const items = reportItems(await readBatchRecords(delivery), delivery.folder, context.io.now());
  const costs = costsOf(items);
  const provenances = new Map(items.map(({ key, provenance }) => [key, provenance ?? null] as const));
  const counted = new Set<string>();
  const printed = ended.map(({ outcome, keys }): Outcome => {
    const { known, ...whole } = toOutcome(outcome, undefined);
    // Jobs that targets share are counted with the first of them, so that the sum is right.
    const own = keys.filter((key) => costs.has(key) && !counted.has(key));
    for (const key of keys) counted.add(key);
    const isKnown = own.length > 0 && own.every((key) => costs.get(key) !== null);
    const credits = isKnown ? roundCredits(own.reduce((sum, key) => sum + (costs.get(key) ?? 0), 0)) : null;
    const isChecked = whole.provenance?.lost_terms !== undefined;
    const jobs = keys.map((key) => {
      const { lost_terms: lost, ...made } = provenances.get(key) ?? { engines: [], cues: [] };
      // The job has the same losses as the target that was checked.
      return lost === undefined || isChecked ? made : { ...made, lost_terms: lost };
    });
    const provenance = combineJobs([...jobs, whole.provenance ?? null]);
    return { ...whole, known: { ...known, charged_credits: credits }, provenance };
  });
  const charged = printed.reduce((sum, { known }) => sum + (known?.charged_credits ?? 0), 0);
  const unknown = [...costs.values()].filter((credits) => credits === null).length;
  return { printed, credits: { reserved: 0, charged: roundCredits(charged), unknown } };
}

/** The credits that each item has cost in all runs, by key; null if the service does not report them. */
function costsOf(items: readonly ItemReport[]): ReadonlyMap<string, number | null> {
  return new Map(
    items.flatMap(({ key, job_id: job, credits }): [string, number | null][] => {
      if (credits !== null) return [[key, credits.reserved + credits.charged]];
      return job === null ? [] : [[key, null]];
    }),
  );
}

/** With more of them, the command that continues is not read. */
const MOST_PATHS = 10;

/** The subtitles that wait for a review, and the command after it. */
function describeReview({ context, states }: StagedRun): readonly string[] {
  const files = new Set(
    states.flatMap(({ sourceSubtitle, targetSubtitle }) =>
      [sourceSubtitle?.label ?? [], targetSubtitle?.label ?? []].flat(),
    ),
  );
  if (files.size === 0) return [];
  const more = files.size - MOST_PATHS;
  const rows = [...files].slice(0, MOST_PATHS).concat(more > 0 ? `and ${more} more beside the videos` : []);
  const review = rows.map((row, at) => `${(at === 0 ? 'Review:' : '').padEnd(12)}${row}`);
  return ['', ...review, `Continue:   ${goOnCommand(context)}`];
}

/** For people, so only with tables. */
function describeNextSteps({ context, states }: StagedRun, isFree: boolean): readonly string[] {
  const [first] = states.filter(({ end, target }) => end?.phase === 'done' && !isCopied(target.item.input));
  if (!isForPeople(context) || first === undefined) return [];
  const { target, targetSubtitle: edited } = first;
  return [
    '',
    ...(isFree ? [] : [`Play it:    ${openCommand(context, target.path)}`]),
    ...(edited === null ? [] : [`Change it:  edit ${edited.label}, then ${sameCommand(context)}`]),
  ];
}
