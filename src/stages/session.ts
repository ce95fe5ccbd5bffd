/** What the stages of one command share: how far each wish is, the service, and what time and credits are left. */

import type { ItemState, StopReason } from '../batch/item.ts';
import { namedPaths } from '../batch/plan/candidate.ts';
import { fileOf } from '../batch/plan/items.ts';
import { readBatchFacts } from '../batch/report/batch-facts.ts';
import { readBatchLog } from '../batch/report/read-batch.ts';
import type { RunOptions, RunOutcome } from '../batch/run/batch.ts';
import { explainDecision } from '../batch/run/decided-outcomes.ts';
import { linesStage, videoStage } from '../batch/stages/items.ts';
import { type Connection, connect } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import type { Failure } from '../errors/failure.ts';
import { readRunOptions } from '../workflow/jobs/job-options.ts';
import type { StageOptions } from './stage-options.ts';
import type { StagePlan, StageSubtitle, Talk, Wish } from './stage-plan.ts';

type End = Extract<ItemState, { phase: 'done' | 'failed' | 'left' }>;

/** One video in one language on its way through the stages. */
export interface Journey {
  readonly talk: Talk;
  readonly wish: Wish;
  /** What is said in the video; null before that is known, and where nobody needs it. */
  source: StageSubtitle | null;
  /** What the dub speaks; null before that is known. */
  target: StageSubtitle | null;
  /** The newest job that was made for it. */
  jobId: string | null;
  /** Keys of all its items, for what they have cost. */
  readonly keys: readonly string[];
  /** Null while it goes on. */
  end: End | null;
}

export interface Session {
  readonly context: Context;
  readonly operands: readonly string[];
  readonly options: StageOptions;
  readonly plan: StagePlan;
  readonly journeys: readonly Journey[];
  /** Items that failed before the first stage: their files cannot be used. */
  readonly unusable: readonly RunOutcome[];
  readonly runOptions: RunOptions;
  /** When the command was begun, milliseconds since 1970. */
  readonly begunMs: number;
  /** Credits of each item that is known to have cost some. */
  readonly spent: Map<string, number>;
  /** The service, connected to when it is needed first; the session closes it. */
  connection(): Promise<Connection>;
  /** Null while no stage has needed it. */
  connected: Connection | null;
  /** Why nothing new is paid any more; null while it is. */
  stopped: StopReason | null;
  close(): Promise<void>;
}

/** The files that the stages read, absolute: no result may be written over them. */
export function inputFilesOf({ context, operands, options, plan }: Session): readonly string[] {
  const items = [...plan.talks, ...plan.unusable].map(({ item }) => item);
  const videos = items.flatMap(({ input }) => fileOf(input)?.path ?? []);
  return [...namedPaths(context.io.cwd, operands, options), ...videos];
}

export async function openSession(
  context: Context,
  operands: readonly string[],
  options: StageOptions,
  plan: StagePlan,
  isRetry: boolean,
): Promise<Session> {
  const runOptions = readRunOptions(options, isRetry);
  const begunMs = context.io.now();
  const costs = await readCosts(plan.delivery.folder, begunMs);
  const session: Session = {
    context,
    operands,
    options,
    plan,
    journeys: plan.talks.flatMap((talk) => talk.wishes.map((wish) => beginJourney(talk, wish))),
    unusable: plan.unusable.map(({ item, detail }): RunOutcome => {
      const failure = explainDecision({ step: 'unusable', detail }, plan.delivery.folder);
      return { item, state: { phase: 'failed', jobId: null, failure }, job: null };
    }),
    runOptions,
    begunMs,
    spent: new Map(runOptions.fresh ? [] : [...costs].map(([key, credits]) => [key, credits ?? 0])),
    async connection() {
      session.connected ??= await connect(context);
      return session.connected;
    },
    connected: null,
    stopped: null,
    close: async () => session.connected?.close(),
  };
  return session;
}

/** What items with jobs have cost in all runs, by their keys; null for what the service does not say. */
export async function readCosts(folder: string, nowMs: number): Promise<ReadonlyMap<string, number | null>> {
  const { items } = readBatchFacts(await readBatchLog(folder), folder, nowMs);
  return new Map(
    items.flatMap(({ key, job_id: job, credits }): [string, number | null][] => {
      if (credits !== null) return [[key, credits.reserved + credits.charged]];
      return job === null ? [] : [[key, null]];
    }),
  );
}

function beginJourney(talk: Talk, wish: Wish): Journey {
  const common = { talk, wish, jobId: null, keys: keysOf(wish), source: talk.given, target: wish.given };
  if (!wish.isLeftOut) return { ...common, end: null };
  const files = [{ asset: 'video', path: wish.path, bytes: null, sha256: null }];
  return { ...common, end: { phase: 'done', jobId: null, files, credits: null, before: 'exists' } };
}

function keysOf({ item }: Wish): readonly string[] {
  // Lines are no part of a key.
  const lines = { label: '', lines: [], parts: null };
  return [
    videoStage('subtitle_recognition', item),
    linesStage('subtitle_translation', item, lines),
    videoStage('audio_separation', item),
    linesStage('dubbing', item, lines),
  ].map(({ key }) => key);
}

/** Those that go on. */
export function going({ journeys }: Session): readonly Journey[] {
  return journeys.filter(({ end }) => end === null);
}

export function fail(journey: Journey, failure: Failure): void {
  journey.end = { phase: 'failed', jobId: failure.facts.jobId ?? journey.jobId, failure };
}
