/**
 * What the videos of one command share: the state of each target, and the jobs of all stages as one run. A video sends its next job
 * when its own previous stage has ended, and all jobs share the journal and the limits of the command.
 */

import { Failure } from '../../base/failure.ts';
import { createInputs, type Inputs } from '../../base/find-input.ts';
import { namedPaths } from '../../batch/inputs/candidate.ts';
import { fileOf } from '../../batch/inputs/items.ts';
import type { BatchItem, BatchOutcome, ItemState, StopReason } from '../../batch/item.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import { describePreparations } from '../../batch/plan/describe-preparations.ts';
import { decideGathered, withLanguages } from '../../batch/plan/gathered.ts';
import { decisionFailure } from '../../batch/plan/refusal.ts';
import { firstLook, listJobs } from '../../batch/recipes/stages.ts';
import { createItemFacts } from '../../batch/records/item-facts.ts';
import { createUnusableRecord } from '../../batch/records/unusable-inputs.ts';
import { AUTOMATIC } from '../../batch/result-name.ts';
import type { RunOutcome } from '../../batch/run/batch.ts';
import { openBudget } from '../../batch/run/budget.ts';
import { endedBefore } from '../../batch/run/outcome.ts';
import { type OpenRun, openRun, runGathered, runTask } from '../../batch/run-batch.ts';
import type { TermLoss } from '../../batch/terms.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { batchOf, type CommandRun, commandRecord } from '../jobs/drive.ts';
import { printLosses } from '../screen/print-provenance.ts';
import type { BatchView } from '../screen/view.ts';
import {
  decideStage,
  dubbedSteps,
  findUnsupported,
  listKinds,
  listPendingKinds,
  plannedOf,
  recipeOf,
  type SourceVideo,
  type StagePlan,
  stagePricesFailure,
  stepsOf,
  type VideoTarget,
} from './stage-plan.ts';
import type { StagedWay } from './walk-stages.ts';

/** How the run of a target ended. */
export type TargetEnd = Extract<ItemState, { phase: 'done' | 'failed' | 'left' }>;

/** How far one video is in one target language. */
export interface TargetState extends StagedWay {
  /** Terms that its subtitles in the target language lack. */
  losses: readonly TermLoss[];
  /** Its newest job. */
  jobId: string | null;
  /** See `stepsOf`. */
  readonly steps: readonly BatchItem[];
  /** Whether this run made a part of it. */
  isNew: boolean;
  /** Whether its dub, if it gets one, has ended. */
  isDubDone: boolean;
  /** Null until the target is done, failed or stopped. */
  end: TargetEnd | null;
}

/** A file with all languages of a video, or the sound of one beside it. */
interface FileState extends PlannedItem {
  /** Null until it is done, failed or stopped. */
  end: RunOutcome | null;
}

export interface StagedRun extends CommandRun {
  readonly plan: StagePlan;
  readonly states: readonly TargetState[];
  readonly files: readonly FileState[];
  /** Items whose files cannot be used; they failed before the first stage. */
  readonly unusable: readonly RunOutcome[];
  /** The targets whose recipes have a job, by key of its item. */
  readonly needs: ReadonlyMap<string, readonly TargetState[]>;
  /** Shows the targets. */
  readonly view: BatchView;
  /** Files of the user that no result may replace. */
  readonly inputs: Inputs;
}

export async function openStagedRun(run: CommandRun, plan: StagePlan): Promise<StagedRun> {
  const states = plan.videos.flatMap((video) =>
    video.targets.map((target) => createTargetState(video, target, plan)),
  );
  const needs = needsOf(states);
  const files = plan.files.map((planned): FileState => ({ ...planned, end: null }));
  const view = await run.show({
    items: plannedOf(plan).map(({ item }) => item),
    wholesOf: ({ key, kind }) =>
      needs.get(key)?.flatMap((state) => (isShown(state, kind) ? state.target.item : [])) ?? null,
  });
  const unusable = plan.unusable.flatMap((each) => endedBefore(each) ?? []);
  const inputs = createInputs(inputFilesOf(run, plan));
  return { ...run, plan, states, files, needs, view, unusable, inputs };
}

/** The files that the stages read, absolute. */
function inputFilesOf({ context, operands, options }: CommandRun, plan: StagePlan): readonly string[] {
  const items = [...plan.videos, ...plan.unusable].map(({ item }) => item);
  const videos = items.flatMap(({ input }) => fileOf(input)?.path ?? []);
  return [...namedPaths(context.io.cwd, operands, options), ...videos];
}

/** Whether the job of a kind is what a target is shown to wait for: of a dub and a separation at a time, only the dub. */
function isShown({ end, isDubDone }: TargetState, kind: JobKind): boolean {
  return end === null && (kind !== 'audio_separation' || isDubDone);
}

function needsOf(states: readonly TargetState[]): StagedRun['needs'] {
  const needs = new Map<string, TargetState[]>();
  for (const state of listUnfinished(states))
    for (const { key } of listJobs(state.recipe)) needs.set(key, [...(needs.get(key) ?? []), state]);
  return needs;
}

function createTargetState(video: SourceVideo, target: VideoTarget, { choices }: StagePlan): TargetState {
  const files = [{ asset: 'video', path: target.path, bytes: null, sha256: null }];
  const kept = { phase: 'done', jobId: null, files, credits: null, before: 'exists' } as const;
  return {
    ...{ video, target, recipe: recipeOf(video, target, choices), steps: stepsOf(target) },
    ...{ sourceSubtitle: video.given, targetSubtitle: target.given },
    ...{ losses: [], jobId: null, isNew: false, isDubDone: false, end: target.isSkipped ? kept : null },
  };
}

/** The targets that have not ended. */
export function listUnfinished(states: readonly TargetState[]): readonly TargetState[] {
  return states.filter(({ end }) => end === null);
}

/** Ends the run of a target and shows it. @param given a Failure is that of its newest job, unless it names another */
export function endTarget(
  { view, context }: StagedRun,
  state: TargetState,
  given: TargetEnd | Failure,
): void {
  const { item } = state.target;
  const ended: TargetEnd =
    given instanceof Failure
      ? { phase: 'failed', jobId: given.facts.jobId ?? state.jobId, failure: given }
      : given;
  const lost = { engines: [], cues: [], lost_terms: state.losses };
  const isLossy = state.losses.length > 0;
  const end =
    isLossy && ended.phase !== 'left' ? { ...ended, provenance: { ...lost, ...ended.provenance } } : ended;
  state.end = end;
  view.listener({ type: 'item', item, state: end, atMs: context.io.now() });
  // The view prints the provenance of finished targets only.
  if (isLossy && end.phase === 'left')
    printLosses(context.terminal, { label: item.label, provenance: lost }, context.io.cwd);
}

/** Ends a target, and records why: no job tells it to later commands. @throws Failure of the journal */
export async function failUnsent(run: StagedRun, state: TargetState, failure: Failure): Promise<void> {
  endTarget(run, state, failure);
  const { item } = state.target;
  const detail = [failure.message, failure.advice ?? []].flat().join('. ');
  await run.journal.add(
    commandRecord(run, [item.key]),
    createItemFacts(item),
    createUnusableRecord(item, detail, run.context.io.now()),
  );
}

export interface StageJobs {
  /**
   * Runs a job that a target needs, unless it is done. Targets that need the same job share it.
   * @throws Failure of the folder or the service; the reason of the signal
   */
  run(item: BatchItem): Promise<BatchOutcome>;
  /** Makes the files of the languages of a video, when they have ended, unless they are there. @throws Failure as `run` */
  gather(languages: readonly TargetState[]): Promise<void>;
  /** Waits until all jobs have ended; none may follow. @throws Failure if another process has taken over the folder */
  end(): Promise<void>;
  /** The outcomes of all jobs that were needed, also of those that were done before. */
  outcomes(): Promise<readonly BatchOutcome[]>;
  /** What could be made better of the jobs that were done before. */
  notes(): readonly string[];
}

export function createStageJobs(run: StagedRun): StageJobs {
  const { context, plan, journal, states } = run;
  const outcomes = new Map<string, Promise<BatchOutcome>>();
  const finished: PlannedItem[] = [];
  const choices = run.choices();
  let opening: Promise<OpenRun> | null = null;

  /** Connects, and checks all stages, so that nothing is paid for a target if a later one is not supported. */
  async function open(): Promise<OpenRun> {
    const { connection } = await run.connect();
    for (const { item, decision } of await findUnsupported(plan, connection.capabilities, context)) {
      const state = states.find(({ target }) => target.item.key === item.key);
      if (state !== undefined) await failUnsent(run, state, decisionFailure(decision));
    }
    const batch = await batchOf(run, listKinds(plan));
    const steps = states.flatMap((state) => state.steps);
    const failure = stagePricesFailure(plan, run.runOptions, openBudget(batch.options, steps, journal));
    if (failure !== null) throw failure;
    const begun = states.filter(
      ({ target, end }) => end === null && !plan.stages.finished.has(target.item.key),
    );
    return openRun({
      ...batch,
      tasks: [],
      itemCount: states.length,
      kinds: listPendingKinds(plan),
      counted: steps,
      inputFiles: inputFilesOf(run, plan),
      // The next stage needs the files of this one.
      options: { ...batch.options, skipDone: false },
      command: 'localize',
      preface: [commandRecord(run, goalsOf(begun))],
      listen: run.view.listener,
    });
  }

  const neededBy = (item: BatchItem) => listUnfinished(run.needs.get(item.key) ?? []);

  async function request(item: BatchItem): Promise<BatchOutcome> {
    // Videos that came first are finished first.
    const order = Math.min(...neededBy(item).map((state) => states.indexOf(state)));
    const { renamed, ...task } = await decideStage(plan, { ...choices, now: context.io.now() }, item);
    const ended = endedBefore(task);
    if (ended !== null) {
      finished.push({ ...task, paths: null });
      return ended;
    }
    opening ??= open();
    const { run: batch, take } = await opening;
    const { reason } = batch.stopping;
    if (reason !== null) return leftOutcome(item, reason);
    const needed = neededBy(item);
    // Its targets may have failed meanwhile.
    if (needed.length === 0) return leftOutcome(item, 'broken');
    const keys = [...new Set([item.key, ...goalsOf(needed)])];
    const [ready = task] = await take({ tasks: [task], records: [commandRecord(run, keys), ...renamed] });
    return runTask(batch, ready, order);
  }

  async function gather(file: FileState, languages: readonly TargetState[]): Promise<RunOutcome> {
    const ended = languages.flatMap(({ target: { item }, end: state }) =>
      state === null ? [] : [{ item, state, job: null }],
    );
    const isDone = new Map(ended.map(({ item: { key }, state }) => [key, state.phase === 'done']));
    const item = sayLanguage(file.item, languages);
    const isSkipped = file.decision.step === 'done' && file.decision.before === 'exists';
    const decision = isSkipped
      ? file.decision
      : await decideGathered(withLanguages(item, isDone), new Map(), run.recorded(), choices);
    const before = endedBefore({ item, decision });
    if (before !== null) {
      run.view.listener({ type: 'item', item, state: before.state, atMs: context.io.now() });
      return before;
    }
    opening ??= open();
    const { run: batch, take } = await opening;
    const task = { item, decision };
    const [ready = task] = await take({ tasks: [task], records: [commandRecord(run, [item.key])] });
    const order = Math.min(...languages.map((state) => states.indexOf(state)));
    return runGathered(
      batch,
      ready,
      ended.map(async (outcome) => outcome),
      order,
    );
  }

  return {
    async gather(languages) {
      for (const file of run.files) {
        const keys = file.item.gathers?.map(({ key }) => key) ?? [];
        const own = languages.filter(({ target }) => keys.includes(target.item.key));
        if (own.length > 0) file.end = await gather(file, own);
      }
    },
    run(item) {
      const outcome = outcomes.get(item.key) ?? request(item);
      outcomes.set(item.key, outcome);
      return outcome;
    },
    async end() {
      await Promise.allSettled(outcomes.values());
      const opened = await opening?.catch(() => null);
      opened?.end();
      if (opened != null) journal.lost.throwIfAborted();
    },
    outcomes: () => Promise.all(outcomes.values()),
    notes: () => describePreparations(finished, dubbedSteps(plan)),
  };
}

/** A file with the language that was recognized in its video, unless the user has stated one. */
function sayLanguage(item: BatchItem, [first]: readonly TargetState[]): BatchItem {
  const { source_language: stated = AUTOMATIC } = item.fields;
  const found = first?.sourceSubtitle?.language ?? null;
  if (stated !== AUTOMATIC || found === null) return item;
  return { ...item, fields: { ...item.fields, source_language: found } };
}

/** Keys of the items that the run makes last, so that a target whose other jobs are done is not taken for finished. */
function goalsOf(states: readonly TargetState[]): readonly string[] {
  return states.map(({ recipe }) => firstLook(recipe).goal.key);
}

function leftOutcome(item: BatchItem, because: StopReason): BatchOutcome {
  return { item, state: { phase: 'left', jobId: null, because } };
}
