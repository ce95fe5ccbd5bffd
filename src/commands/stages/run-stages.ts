/** Runs a localization in stages: one batch of jobs, in which each video continues when its own previous stage has ended. */

import { configurationFailure } from '../../base/failure.ts';
import { mapConcurrently } from '../../base/together.ts';
import { isCopied } from '../../batch/input.ts';
import type { BatchOutcome } from '../../batch/item.ts';
import { combineJobs } from '../../batch/item-provenance.ts';
import { firstLook } from '../../batch/recipes/stages.ts';
import { itemsOfBefore } from '../../batch/records/command-record.ts';
import { nameOfKey, newestAttempt } from '../../batch/records/item-key.ts';
import { createUnusableRecord, createUsableRecord } from '../../batch/records/unusable-inputs.ts';
import type { RunOutcome } from '../../batch/run/batch.ts';
import { openBatch } from '../../batch/run/open-batch.ts';
import { summarizeFailure } from '../../batch/run/outcome.ts';
import { BESIDE_SLOTS } from '../../batch/run-batch.ts';
import { createPrograms } from '../../media/programs/programs.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { roundCredits } from '../../protocol/metering.ts';
import type { Context } from '../context/context.ts';
import { requireFfmpeg } from '../context/engines.ts';
import { continueCommand, goOnCommand, sameCommand } from '../context/printed-command.ts';
import { EMBEDDED_STOPS, isForPeople, noteIdle, openCommand } from '../jobs/continuation.ts';
import { exitCodeOf, type Outcome, printOutcomes, toOutcome } from '../jobs/job-outcomes.ts';
import { noteShard } from '../jobs/plan-jobs.ts';
import { noteSamples, reportStagedSamples, type SampleReport } from '../jobs/sample.ts';
import { decideWithMemory, noteRemembered } from '../jobs/use-memory.ts';
import { summaryLine } from '../screen/view.ts';
import { createVideoCheck } from './check-video.ts';
import { createExporter } from './export-videos.ts';
import { localizeVideo, settleAll } from './localize-video.ts';
import { collectStages, decideStages } from './plan-stages.ts';
import { createStageJobs, stageRecord } from './stage-jobs.ts';
import type { StageOptions } from './stage-options.ts';
import { listKinds, listTargets, type StagePlan } from './stage-plan.ts';
import { costsOf, openStagedRun, readItems, type StagedRun, type TargetState } from './staged-run.ts';

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
    if (!isRetry) noteShard(context, collected);
    await checkExport(context, plan);
    const use = { delivery: plan.delivery, writes: true };
    await decideWithMemory('subtitle_translation', options, context, use, async (remembered) =>
      runAll(await openStagedRun(context, operands, options, { ...plan, ...remembered }, journal, isRetry)),
    );
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
    const jobs = await runVideos(run);
    noteRemembered(run.context, run.memory);
    await finishStages(run, jobs);
  } catch (error) {
    if (!signal.aborted) throw error;
    await printInterrupted(run);
    throw signal.reason;
  } finally {
    await run.close();
  }
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

/**
 * Records the files that cannot be used in the journal, for `batch status` and other commands, together with
 * the files that were fixed since an earlier run.
 */
async function recordUnusable(run: StagedRun): Promise<void> {
  const { context, plan, journal } = run;
  // Other refusals leave an earlier result as it is.
  const unusable = plan.unusable.flatMap(({ item, decision }) =>
    decision.step === 'unusable' ? [createUnusableRecord(item, decision.detail, context.io.now())] : [],
  );
  const keys = new Set(unusable.map(({ item }) => item));
  const before = [...journal.checked.unusable.keys()];
  // Files that this command could not use before may have been removed from the folder.
  const earlier = itemsOfBefore(journal.commands, stageRecord(run, []));
  const own = new Set([...plan.order, ...earlier]);
  const fixed = before.filter((key) => own.has(key) && !keys.has(key));
  // The record of a shard shows that it has run, even if it has nothing to do.
  const isShard = plan.delivery.shard !== undefined;
  const names = new Set(plan.order.map((key) => nameOfKey(key) ?? ''));
  const isAnyGone = earlier.some((key) => !names.has(nameOfKey(key) ?? ''));
  const isCommand = keys.size > 0 || isShard || isAnyGone;
  if (!isCommand && fixed.length === 0) return;
  const records = [
    ...(isCommand ? [{ ...stageRecord(run, [...keys]), names: [...names] }] : []),
    ...unusable,
    ...fixed.map(createUsableRecord),
  ];
  await journal.add(...records);
}

/** So many videos are named one by one. */
const MOST_NAMED = 10;

/** Prints which videos wait for jobs of an earlier run, and which of the others wait for a review. */
function printWaits({ plan, states, runOptions, context }: StagedRun): void {
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
  const { view, context, states, runOptions } = run;
  const jobs = createStageJobs(run);
  const workshop = { run, jobs, exportVideo: createExporter(run) };
  const checkVideo = createVideoCheck(run);
  const videos = [...Map.groupBy(states, ({ video }) => video).values()];
  const works: Promise<void>[] = [];
  try {
    await mapConcurrently(videos, runOptions.jobs + BESIDE_SLOTS, async (own) => {
      const work = checkVideo(own).then(() => localizeVideo(workshop, own));
      works.push(work);
      await work.catch(() => undefined);
    });
    await settleAll([...works, jobs.end()]);
    context.signal.throwIfAborted();
    for (const note of jobs.notes()) context.terminal.note(note);
    return await jobs.outcomes();
  } finally {
    view.close();
  }
}

/** Prints the results. @throws the Failure that the command ends with */
async function finishStages(run: StagedRun, jobs: readonly BatchOutcome[]): Promise<void> {
  const { context } = run;
  const { stopAfter } = run.plan.choices;
  const outcomes = outcomesOf(run).map(({ outcome }) => outcome);
  const failure = summarizeFailure(outcomes, listKinds(run.plan));
  const isLeft = outcomes.some(({ state }) => state.phase === 'left');
  const sample = isLeft || stopAfter !== null ? null : reportStagedSamples(context, jobs, ratiosOf(run));
  await print(run, exitCodeOf(run.context, failure), sample);
  if (stopAfter !== null) printStop(run);
  if (isLeft) printContinuation(run);
  const isDone = failure === null;
  if (isDone && !noteIdle(context, outcomes) && stopAfter === null) printNextSteps(run);
  if (sample !== null) noteSamples(context, sample, isFree(run));
  if (failure !== null) throw failure;
}

/** How much longer each video is than its sample, by its name. */
function ratiosOf({ plan }: StagedRun): ReadonlyMap<string, number> {
  const samples = plan.videos.flatMap(({ item: { input } }): [string, number][] => {
    const whole = input.sample?.whole.seconds ?? null;
    return whole === null ? [] : [[input.name, whole / (input.seconds ?? whole)]];
  });
  return new Map(samples);
}

function outcomeOf({ target, end, jobId }: TargetState): RunOutcome {
  const state = end ?? { phase: 'left', jobId, because: 'interrupted' };
  return { item: target.item, state, job: null };
}

/** All outcomes in the order of the inputs, with the keys of the items whose jobs they cost. */
function outcomesOf({ states, unusable, plan }: StagedRun): readonly Ended[] {
  const order = new Map(plan.order.map((key, position) => [key, position]));
  const placeOf = ({ outcome: { item } }: Ended) => order.get(item.key) ?? 0;
  return [
    ...states.map((state): Ended => ({ outcome: outcomeOf(state), keys: state.steps.map(({ key }) => key) })),
    ...unusable.map((outcome): Ended => ({ outcome, keys: [] })),
  ].toSorted((left, right) => placeOf(left) - placeOf(right));
}

interface Ended {
  readonly outcome: RunOutcome;
  readonly keys: readonly string[];
}

/** Prints one result for each video and target language, with the cost of all its stages. */
async function print(run: StagedRun, exitCode: number, sample: SampleReport | null = null): Promise<void> {
  const { context, plan } = run;
  const items = await readItems(plan.delivery, context.io.now());
  const costs = costsOf(items);
  const provenances = new Map(items.map(({ key, provenance }) => [key, provenance ?? null] as const));
  const ended = outcomesOf(run);
  const outcomes = ended.map(({ outcome }) => outcome);
  const complete = outcomes.map(
    (outcome, position): Outcome =>
      withProvenance(withCosts(toOutcome(outcome, undefined), position), position),
  );

  function withCosts(outcome: Outcome, position: number): Outcome {
    if (outcome.known === undefined) return outcome;
    // Jobs that targets share are counted with the first of them, so that the sum is right.
    const before = new Set(ended.slice(0, position).flatMap(({ keys }) => keys));
    const own = (ended[position]?.keys ?? []).filter((key) => costs.has(key) && !before.has(key));
    const isKnown = own.length > 0 && own.every((key) => costs.get(key) !== null);
    const credits = isKnown ? roundCredits(own.reduce((sum, key) => sum + (costs.get(key) ?? 0), 0)) : null;
    return { ...outcome, known: { ...outcome.known, charged_credits: credits } };
  }

  function withProvenance(outcome: Outcome, position: number): Outcome {
    const keys = ended[position]?.keys ?? [];
    const isChecked = outcome.provenance?.lost_terms !== undefined;
    const jobs = keys.map((key) => {
      const { lost_terms: lost, ...made } = provenances.get(key) ?? { engines: [], cues: [] };
      // The job has the same losses as the target that was checked.
      return lost === undefined || isChecked ? made : { ...made, lost_terms: lost };
    });
    return { ...outcome, provenance: combineJobs([...jobs, outcome.provenance ?? null]) };
  }

  if (context.output !== 'ndjson') {
    await printOutcomes(context, complete, undefined, sample === null ? {} : { sample });
    return;
  }
  if (sample !== null) context.print(JSON.stringify({ type: 'sample', ...sample }));
  const charged = complete.reduce((sum, { known }) => sum + (known?.charged_credits ?? 0), 0);
  const unknown = [...costs.values()].filter((credits) => credits === null).length;
  const line = summaryLine(outcomes, { reserved: 0, charged: roundCredits(charged), unknown }, exitCode);
  context.print(JSON.stringify(line));
}

/** With more of them, the command that continues is not read. */
const MOST_PATHS = 10;

function printStop({ context, states }: StagedRun): void {
  const { note } = context.terminal;
  const files = new Set(
    states.flatMap(({ sourceSubtitle, targetSubtitle }) =>
      [sourceSubtitle?.label ?? [], targetSubtitle?.label ?? []].flat(),
    ),
  );
  if (files.size === 0) return;
  note('');
  const more = files.size - MOST_PATHS;
  const rows = [...files].slice(0, MOST_PATHS).concat(more > 0 ? `and ${more} more beside the videos` : []);
  for (const [at, row] of rows.entries()) note(`${(at === 0 ? 'Review:' : '').padEnd(12)}${row}`);
  note(`Continue:   ${goOnCommand(context)}`);
}

/** For people, so only with tables. */
function printNextSteps(run: StagedRun): void {
  const { context, states } = run;
  const [first] = states.filter(({ end, target }) => end?.phase === 'done' && !isCopied(target.item.input));
  if (!isForPeople(context) || first === undefined) return;
  const { note } = context.terminal;
  note('');
  if (!isFree(run)) note(`Play it:    ${openCommand(context, first.target.path)}`);
  if (first.targetSubtitle === null) return;
  note(`Change it:  edit ${first.targetSubtitle.label}, then ${sameCommand(context)}`);
}

/** Whether the service is the embedded one. */
function isFree({ connected }: StagedRun): boolean {
  return connected?.isFree === true;
}

/** Prints the state of an interrupted run and the command that continues it. */
async function printInterrupted(run: StagedRun): Promise<void> {
  const { context, states, unusable } = run;
  await print(run, exitCodeOf(context, null));
  const done = states.filter(({ end }) => end?.phase === 'done').length;
  const total = states.length + unusable.length;
  context.terminal.note(
    `Stopped: ${done} of ${total} done. Running jobs and downloaded results are kept; nothing is lost.`,
  );
  printContinuation(run);
}

function printContinuation(run: StagedRun): void {
  const { context } = run;
  const { note } = context.terminal;
  if (isFree(run)) note(EMBEDDED_STOPS);
  note('Continue with:');
  note(`  ${continueCommand(context)}`);
}
