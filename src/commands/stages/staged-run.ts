/** State shared by the stages of one command: the state of each target, the service, the journal and the progress. */

import type { Failure } from '../../base/failure.ts';
import { createInputs, type Inputs } from '../../base/find-input.ts';
import { namedPaths } from '../../batch/inputs/candidate.ts';
import { fileOf } from '../../batch/inputs/items.ts';
import { linesStage, videoStage } from '../../batch/inputs/stage-items.ts';
import type { BatchItem, ItemState } from '../../batch/item.ts';
import { refusedOutcomes } from '../../batch/plan/refusal.ts';
import { listJobs } from '../../batch/recipes/stages.ts';
import type { BatchPlace } from '../../batch/records/record-folder.ts';
import { reportItems } from '../../batch/report/batch-facts.ts';
import type { ItemReport } from '../../batch/report/item-report.ts';
import { readBatchRecords } from '../../batch/report/read-batch.ts';
import type { RunOptions, RunOutcome } from '../../batch/run/batch.ts';
import type { BatchJournal } from '../../batch/run/journal.ts';
import type { BatchMemory } from '../../batch/run/recall.ts';
import type { TermLoss } from '../../batch/terms.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { type Connection, connectService } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import { readDubOptions, requireOneDub } from '../jobs/redub.ts';
import { printLosses } from '../screen/print-provenance.ts';
import { type BatchView, createBatchView } from '../screen/view.ts';
import type { StageOptions } from './stage-options.ts';
import { listTargets, recipeOf, type SourceVideo, type StagePlan, type VideoTarget } from './stage-plan.ts';
import type { StagedWay } from './walk-stages.ts';

/** How the run of a target ended. */
export type TargetEnd = Extract<ItemState, { phase: 'done' | 'failed' | 'left' }>;

/** How far one video is in one target language. */
export interface TargetState extends StagedWay {
  /** Terms that its subtitles in the target language lack. */
  losses: readonly TermLoss[];
  /** Its newest job. */
  jobId: string | null;
  /** Placeholders of the items of all its stages, without lines; their keys do not contain any. */
  readonly steps: readonly BatchItem[];
  /** Whether this run made a part of it. */
  isNew: boolean;
  /** Whether its dub, if it gets one, has ended. */
  isDubDone: boolean;
  /** Null until the target is done, failed or stopped. */
  end: TargetEnd | null;
}

export interface StagedRun {
  readonly context: Context;
  readonly operands: readonly string[];
  readonly options: StageOptions;
  readonly plan: StagePlan;
  readonly states: readonly TargetState[];
  /** Items whose files cannot be used; they failed before the first stage. */
  readonly unusable: readonly RunOutcome[];
  readonly runOptions: RunOptions;
  /** The targets whose recipes have a job, by key of its item. */
  readonly needs: ReadonlyMap<string, readonly TargetState[]>;
  /** Shows the targets. */
  readonly view: BatchView;
  /** Files of the user that no result may replace. */
  readonly inputs: Inputs;
  /** Connects to the service on the first call. */
  connection(): Promise<Connection>;
  /** The connection; null before the first call. */
  connected: Connection | null;
  /** Missing before the first job. */
  memory: BatchMemory | undefined;
  /** No other process works in the folder while it is open. */
  readonly journal: BatchJournal;
  /** Closes the memory and the connection. */
  close(): Promise<void>;
}

/** The files that the stages read, absolute. No result may overwrite them. */
export function inputFilesOf({
  context,
  operands,
  options,
  plan,
}: Pick<StagedRun, 'context' | 'operands' | 'options' | 'plan'>): readonly string[] {
  const items = [...plan.videos, ...plan.unusable].map(({ item }) => item);
  const videos = items.flatMap(({ input }) => fileOf(input)?.path ?? []);
  return [...namedPaths(context.io.cwd, operands, options), ...videos];
}

/** The context with a shared limit that counts nothing from the embedded service. */
function countingHosted(context: Context, connected: () => Connection | null): Context {
  const { spending } = context;
  if (spending === undefined) return context;
  const count = (credits: number | null) => {
    if (connected()?.isFree !== true) spending.count(credits);
  };
  return { ...context, spending: { ...spending, count } };
}

export async function openStagedRun(
  context: Context,
  operands: readonly string[],
  options: StageOptions,
  plan: StagePlan,
  journal: BatchJournal,
  isRetry: boolean,
): Promise<StagedRun> {
  const runOptions = readDubOptions('auto_localization', options, context, isRetry);
  requireOneDub(runOptions, plan.order.length);
  const states = plan.videos.flatMap((video) =>
    video.targets.map((target) => createTargetState(video, target, plan)),
  );
  const needs = needsOf(states);
  let connecting: Promise<Connection> | null = null;
  const run: StagedRun = {
    context,
    operands,
    options,
    plan,
    states,
    unusable: refusedOutcomes(plan.unusable).map((outcome): RunOutcome => ({ ...outcome, job: null })),
    runOptions,
    needs,
    view: await createBatchView(
      countingHosted(context, () => run.connected),
      {
        items: [...plan.videos.flatMap(({ targets }) => targets), ...plan.unusable].map(({ item }) => item),
        wholesOf: ({ key, kind }) =>
          needs.get(key)?.flatMap((state) => (isShown(state, kind) ? state.target.item : [])) ?? null,
      },
    ),
    inputs: createInputs(inputFilesOf({ context, operands, options, plan })),
    async connection() {
      connecting ??= connectService(context);
      run.connected = await connecting;
      return run.connected;
    },
    connected: null,
    memory: undefined,
    journal,
    async close() {
      run.view.close();
      await run.memory?.store.close();
      await run.connected?.close();
    },
  };
  return run;
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

/** The items of all runs of a batch or a shard, according to its journal. */
export async function readItems(place: BatchPlace, nowMs: number): Promise<readonly ItemReport[]> {
  return reportItems(await readBatchRecords(place), place.folder, nowMs);
}

/** The credits that each item has cost in all runs, by key; null if the service does not report them. */
export function costsOf(items: readonly ItemReport[]): ReadonlyMap<string, number | null> {
  return new Map(
    items.flatMap(({ key, job_id: job, credits }): [string, number | null][] => {
      if (credits !== null) return [[key, credits.reserved + credits.charged]];
      return job === null ? [] : [[key, null]];
    }),
  );
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

/** Placeholders of the items of all its stages, without lines. */
export function stepsOf({ item }: VideoTarget): readonly BatchItem[] {
  return [
    videoStage('subtitle_recognition', item),
    linesStage('subtitle_translation', item, null),
    videoStage('audio_separation', item),
    linesStage('dubbing', item, null),
  ];
}

/** Keys of the jobs of targets that are dubbed in the end. */
export function dubbedSteps(plan: StagePlan): ReadonlySet<string> {
  const jobs = listTargets(plan).map(({ recipe }) => listJobs(recipe));
  const dubbed = jobs.filter((all) => all.some(({ kind }) => kind === 'dubbing'));
  return new Set(dubbed.flat().map(({ key }) => key));
}

/** The targets that have not ended. */
export function listUnfinished(states: readonly TargetState[]): readonly TargetState[] {
  return states.filter(({ end }) => end === null);
}

/** Ends the run of a target and shows it. */
export function endTarget({ view, context }: StagedRun, state: TargetState, given: TargetEnd): void {
  const { item } = state.target;
  const lost = { engines: [], cues: [], lost_terms: state.losses };
  const isLossy = state.losses.length > 0;
  const end =
    isLossy && given.phase !== 'left' ? { ...given, provenance: { ...lost, ...given.provenance } } : given;
  state.end = end;
  view.listener({ type: 'item', item, state: end, atMs: context.io.now() });
  // The view prints the provenance of finished targets only.
  if (isLossy && end.phase === 'left')
    printLosses(context.terminal, { label: item.label, provenance: lost }, context.io.cwd);
}

export function failTarget(run: StagedRun, state: TargetState, failure: Failure): void {
  endTarget(run, state, { phase: 'failed', jobId: failure.facts.jobId ?? state.jobId, failure });
}
