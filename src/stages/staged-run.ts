/** What the stages of one command share: the state of each target, the service, and the limits of time and credits. */
import type { BatchItem, ItemState } from '../batch/item.ts';
import { namedPaths } from '../batch/plan/candidate.ts';
import { fileOf } from '../batch/plan/items.ts';
import type { BatchPlace } from '../batch/record-folder.ts';
import { readBatchFacts } from '../batch/report/batch-facts.ts';
import type { ItemReport } from '../batch/report/item-report.ts';
import { readBatchLog } from '../batch/report/read-batch.ts';
import type { RunOptions, RunOutcome } from '../batch/run/batch.ts';
import { explainDecision } from '../batch/run/decided-outcomes.ts';
import { linesStage, videoStage } from '../batch/stages/items.ts';
import { type Connection, connect } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import type { Failure } from '../errors/failure.ts';
import type { Prices } from '../protocol/prices.ts';
import { readRunOptions } from '../workflow/jobs/job-options.ts';
import type { StageOptions } from './stage-options.ts';
import type { SourceVideo, StagePlan, StageSubtitle, VideoTarget } from './stage-plan.ts';

/** How the run of a target ended. */
type TargetEnd = Extract<ItemState, { phase: 'done' | 'failed' | 'left' }>;

/** How far one video is in one target language. */
export interface TargetState {
  readonly video: SourceVideo;
  readonly target: VideoTarget;
  /** Subtitles in the spoken language; null until they exist, and if no stage needs them. */
  sourceSubtitle: StageSubtitle | null;
  /** Subtitles in the target language; null until they exist. */
  targetSubtitle: StageSubtitle | null;
  /** Its newest job. */
  jobId: string | null;
  /** Keys of the items of all its stages, to sum their costs. */
  readonly keys: readonly string[];
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
  /** When the command started, milliseconds since 1970. */
  readonly begunMs: number;
  /** Credits that each item has cost so far, by key, once connected; null if they are neither reported nor stated. */
  readonly spent: Map<string, number | null>;
  /** Connects to the service on the first call; `close` ends the connection. */
  connection(): Promise<Connection>;
  /** The connection; null before the first call. */
  connected: Connection | null;
  close(): Promise<void>;
}

/** The files that the stages read, absolute. No result may overwrite them. */
export function inputFilesOf({ context, operands, options, plan }: StagedRun): readonly string[] {
  const items = [...plan.videos, ...plan.unusable].map(({ item }) => item);
  const videos = items.flatMap(({ input }) => fileOf(input)?.path ?? []);
  return [...namedPaths(context.io.cwd, operands, options), ...videos];
}

export async function openStagedRun(
  context: Context,
  operands: readonly string[],
  options: StageOptions,
  plan: StagePlan,
  isRetry: boolean,
): Promise<StagedRun> {
  const runOptions = readRunOptions(options, isRetry);
  const begunMs = context.io.now();
  const run: StagedRun = {
    context,
    operands,
    options,
    plan,
    states: plan.videos.flatMap((video) => video.targets.map((target) => createTargetState(video, target))),
    unusable: plan.unusable.map(({ item, detail }): RunOutcome => {
      const failure = explainDecision({ step: 'unusable', detail }, plan.delivery.folder);
      return { item, state: { phase: 'failed', jobId: null, failure }, job: null };
    }),
    runOptions,
    begunMs,
    spent: new Map(),
    async connection() {
      run.connected ??= await connect(context);
      return run.connected;
    },
    connected: null,
    close: async () => run.connected?.close(),
  };
  return run;
}

/** The items of all runs of a batch or a shard, according to its journal. @param prices of jobs without a reported cost */
export async function readItems(
  place: BatchPlace,
  nowMs: number,
  prices: Prices = {},
): Promise<readonly ItemReport[]> {
  return readBatchFacts(await readBatchLog(place), place.folder, nowMs, prices).items;
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

function createTargetState(video: SourceVideo, target: VideoTarget): TargetState {
  const subtitles = { sourceSubtitle: video.given, targetSubtitle: target.given };
  const common = { video, target, jobId: null, keys: keysOf(target), ...subtitles };
  if (!target.isSkipped) return { ...common, end: null };
  const files = [{ asset: 'video', path: target.path, bytes: null, sha256: null }];
  return { ...common, end: { phase: 'done', jobId: null, files, credits: null, before: 'exists' } };
}

function keysOf({ item }: VideoTarget): readonly string[] {
  // A key does not contain lines.
  const lines = { label: '', lines: [], parts: null };
  return [
    videoStage('subtitle_recognition', item),
    linesStage('subtitle_translation', item, lines),
    videoStage('audio_separation', item),
    linesStage('dubbing', item, lines),
  ].map(({ key }) => key);
}

/** The targets that have not ended. */
export function unfinished({ states }: StagedRun): readonly TargetState[] {
  return states.filter(({ end }) => end === null);
}

export function failTarget(state: TargetState, failure: Failure): void {
  state.end = { phase: 'failed', jobId: failure.facts.jobId ?? state.jobId, failure };
}

/** Takes over the outcome of a job: unless the job is done, its end is that of the target. */
export function applyOutcome(
  state: TargetState,
  item: BatchItem | undefined,
  outcomes: ReadonlyMap<string, RunOutcome>,
): void {
  const outcome = item === undefined ? undefined : outcomes.get(item.key);
  if (item === undefined || outcome === undefined) return;
  state.jobId = outcome.state.jobId ?? state.jobId;
  if (outcome.state.phase !== 'done') state.end ??= outcome.state;
}
