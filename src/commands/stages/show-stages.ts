/** --dry-run of a localization in stages: what each stage would do and cost. Only prices and the balance are requested. */

import { resolve } from 'node:path';
import { Failure } from '../../base/failure.ts';
import type { BatchItem } from '../../batch/item.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import { decideItems } from '../../batch/plan/decide-items.ts';
import type { Choices, Decision } from '../../batch/plan/decision.ts';
import { describeEncodings, describePreparations } from '../../batch/plan/describe-preparations.ts';
import { type Forecast, forecastPlan, type Purse } from '../../batch/plan/dry-run.ts';
import { isCopied } from '../../batch/plan/input.ts';
import { decisionFailure, isRefused } from '../../batch/plan/refusal.ts';
import type { BatchRecords } from '../../batch/records/batch-records.ts';
import { describeMissingCues } from '../../batch/report/provenance.ts';
import { openBudget } from '../../batch/run/budget.ts';
import { choicesOf } from '../../batch/run/open-batch.ts';
import { createOtherLines } from '../../batch/run/recall.ts';
import {
  languageOfStage,
  linesStage,
  type StageLines,
  type VideoItem,
  videoStage,
} from '../../batch/stages/items.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { describeCredits, describeUnits } from '../../protocol/metering.ts';
import {
  type Speakers,
  type SubtitleLine,
  withoutSpeakers,
  withSpeakers,
} from '../../protocol/subtitle-line.ts';
import { connectService } from '../context/connection.ts';
import type { Context, TableHead } from '../context/context.ts';
import { countRemembered, openMemoryFor } from '../jobs/memory.ts';
import { noteShard } from '../jobs/plan-jobs.ts';
import {
  describeLimit,
  forecastLimit,
  listNewJobs,
  type NewJob,
  type PlanLimit,
} from '../jobs/plan-limit.ts';
import { readDubOptions, requireOneDub } from '../jobs/redub.ts';
import {
  creditCell,
  describeMemory,
  describeRedub,
  FREE,
  planTable,
  readPurse,
  refusalsFailure,
  shareOf,
} from '../jobs/show-plan.ts';
import { createLinesExaminer, nameSpeakers } from '../jobs/subtitles.ts';
import { readStageLines } from './given-subtitle.ts';
import { collectStages, decideStages } from './plan-stages.ts';
import { requireStagePrices, stageChoices } from './stage-jobs.ts';
import type { StageOptions } from './stage-options.ts';
import {
  findIncomplete,
  findUnsupported,
  isDubbed,
  listKinds,
  needsBackground,
  needsRecognition,
  needsTranslation,
  type SourceVideo,
  type StagePlan,
  type UnusableItem,
  type VideoTarget,
  withoutTargets,
} from './stage-plan.ts';
import { dubbedSteps, stepsOf } from './staged-run.ts';

/** Prints the plan. @returns the exit code 0  @throws the Failure that the command would end with, as far as it is known */
export async function showStages(
  context: Context,
  operands: readonly string[],
  options: StageOptions,
): Promise<number> {
  const collected = await collectStages(context, operands, options);
  const decided = await decideStages(context, options, collected, collected.recorded, collected.records);
  if (decided.choices.stopAfter === null) {
    for (const note of describeEncodings(plannedOf(decided))) context.terminal.note(note);
  }
  noteShard(context, collected);
  const forecasts: StageForecasts =
    decided.videos.length === 0
      ? { plan: decided, stages: [], isFree: false, limit: null }
      : await askForStages(context, options, decided, collected.records);
  const { plan } = forecasts;
  await print(context, collected.all.length, forecasts);
  const failure = refusalsFailure(plannedOf(plan));
  if (failure !== null) throw failure;
  if (forecasts.refusal) throw forecasts.refusal;
  return 0;
}

interface StageForecasts extends PlanLimit {
  /** Without the targets that a stage ends. */
  readonly plan: StagePlan;
  readonly stages: readonly Forecast[];
  readonly isFree: boolean;
  /** The run would end so, before it sends anything. */
  readonly refusal?: Failure | null;
  /** Credits that one job for each video and language would cost; null if unknown. Without --terms, missing. */
  readonly one_job_credits?: number | null | undefined;
}

async function askForStages(
  context: Context,
  options: StageOptions,
  whole: StagePlan,
  recorded: BatchRecords,
): Promise<StageForecasts> {
  const runOptions = readDubOptions('auto_localization', options, context);
  requireOneDub(runOptions, whole.order.length);
  const connection = await connectService(context);
  try {
    const plan = withoutTargets(whole, await findUnsupported(whole, connection.capabilities, context));
    const kinds = [...listKinds(plan), ...(plan.terms === undefined ? [] : (['auto_localization'] as const))];
    const purse = await readPurse(kinds, connection, context, runOptions);
    const choices = choicesOf(runOptions, plan.delivery, context.io.now(), context.signal);
    const use = { delivery: plan.delivery, connection, writes: false };
    const memory = await openMemoryFor('subtitle_translation', options, context, use);
    const otherLines = memory && createOtherLines(memory.store, plan.delivery);
    const remember = (planned: readonly PlannedItem[]) =>
      countRemembered(memory, options, {
        ...{ delivery: plan.delivery, planned, recorded, terms: plan.terms },
      });
    const parts = { choices: { ...choices, otherLines }, purse, remember };
    const { stages, refused } = await forecastStages(context, plan, parts);
    const asOne = plan.terms && forecastPlan('auto_localization', plannedOf(plan), purse).credits;
    const steps = plan.videos.flatMap(({ targets }) => targets.flatMap(stepsOf));
    const open = () => openBudget({ ...runOptions, prices: purse.known }, steps, recorded);
    return {
      plan: withoutTargets(plan, refused),
      stages,
      isFree: connection.isFree,
      one_job_credits: asOne,
      refusal: findRefusal(() => requireStagePrices(plan, runOptions, open())),
      ...forecastLimit(runOptions, open(), inOrder(plan, stages.flatMap(listNewJobs))),
    };
  } finally {
    await connection.close();
  }
}

function findRefusal(check: () => void): Failure | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/** The jobs in the order in which the run sends them: by how many others each waits for, then by its video. */
function inOrder({ videos }: StagePlan, jobs: readonly NewJob[]): readonly NewJob[] {
  const nameOf = (input: string, language: string | null) => JSON.stringify([input, language]);
  const targets = videos.flatMap((video) => video.targets.map(({ item }) => item));
  const places = targets.flatMap(({ input: { label }, targetLanguage }, place): [string, number][] => [
    [nameOf(label, targetLanguage), place],
    [nameOf(label, null), place],
  ]);
  // What the targets of a video share is made with the first of them.
  const placeOf = new Map(places.toReversed());
  const due = new Set(jobs.map((job) => job.kind + nameOf(job.input, job.target_language)));
  const placed = jobs.map((job) => {
    const { kind, input } = job;
    const place = placeOf.get(nameOf(input, job.target_language)) ?? 0;
    const language = targets[place]?.targetLanguage ?? null;
    const waits = [
      kind !== 'subtitle_recognition' && due.has(`subtitle_recognition${nameOf(input, null)}`),
      isAudio(kind) && due.has(`subtitle_translation${nameOf(input, language)}`),
    ];
    return { job, place, round: waits.filter(Boolean).length };
  });
  const sorted = placed.toSorted((left, right) => left.round - right.round || left.place - right.place);
  return sorted.map(({ job }) => job);
}

function isAudio(kind: JobKind): boolean {
  return kind === 'dubbing' || kind === 'audio_separation';
}

/** One item for each video and target language, as for a localization in one job. */
function plannedOf({ videos, unusable }: StagePlan): readonly PlannedItem[] {
  const targets = videos.flatMap((video) => video.targets);
  return [
    ...unusable.map((each): PlannedItem => ({ ...each, paths: null })),
    ...targets.map(({ item, path }): PlannedItem => {
      return { item, decision: { step: 'new', after: null }, paths: [path] };
    }),
  ];
}

const HEAD: readonly TableHead[] = [
  'STAGE',
  { title: 'INPUT', wraps: 20 },
  'LANGUAGE',
  'STATUS',
  'UNITS',
  'CREDITS',
];

async function print(
  context: Context,
  total: number,
  { plan, stages, isFree, one_job_credits: whole, limit, refusal }: StageForecasts,
): Promise<void> {
  const sum = {
    ...sumOf(stages),
    ...(whole === undefined ? {} : { one_job_credits: whole }),
    limit,
  };
  const videos = plan.choices.stopAfter === null ? plan.videos.flatMap(({ targets }) => targets) : [];
  switch (context.output) {
    case 'json':
      context.print(
        JSON.stringify(
          {
            object: 'stages',
            ...shareOf(plan.delivery, total),
            ...sum,
            stages,
            results: pathsOf(plan),
            not_usable: problemsOf(plan),
          },
          null,
          2,
        ),
      );
      return;
    case 'ndjson':
      for (const stage of stages) context.print(JSON.stringify({ type: 'stage', ...stage }));
      for (const each of problemsOf(plan)) context.print(JSON.stringify({ type: 'not_usable', ...each }));
      context.print(JSON.stringify({ type: 'summary', ...sum }));
      return;
    case 'plain':
      for (const row of rowsOf(stages, isFree)) context.print(row.join('\t'));
      return;
    case 'id':
      for (const { job_id: id } of stages.flatMap(({ items }) => items)) if (id !== null) context.print(id);
      return;
    case 'table': {
      const rows = rowsOf(stages, isFree);
      if (rows.length > 0) context.print(await planTable(context, HEAD, rows, isFree));
      for (const { item, path } of videos) {
        const how = isCopied(item.input) ? 'Copied' : 'Then put together';
        context.terminal.note(`${how} on this machine: ${path}`);
      }
      for (const line of stages.flatMap(describeMemory)) context.terminal.note(line);
      const inStages = describePrice(sum.credits);
      const cost =
        whole === undefined
          ? `Cost: ${inStages}.`
          : `Cost in stages: ${inStages}; as one job, without --terms: ${describePrice(whole)}.`;
      context.terminal.note(`New jobs: ${sum.jobs}. ${isFree ? FREE : cost} Nothing was sent.`);
      if (!refusal) for (const line of describeLimit(sum)) context.terminal.note(line);
    }
  }
}

function describePrice(credits: number | null): string {
  return credits === null ? 'not known yet' : describeCredits(credits);
}

function problemsOf({ unusable }: StagePlan) {
  return unusable.map(({ item, decision }) => ({
    input: item.input.label,
    target_language: item.targetLanguage,
    problem: decisionFailure(decision).message,
  }));
}

function pathsOf({ choices, videos }: StagePlan): readonly string[] {
  return choices.stopAfter === null ? videos.flatMap(({ targets }) => targets.map(({ path }) => path)) : [];
}

function sumOf(stages: readonly Forecast[]) {
  const costs = stages.map(({ credits }) => credits);
  const credits = costs.reduce<number | null>(
    (sum, each) => (sum === null || each === null ? null : sum + each),
    0,
  );
  return { jobs: stages.reduce((sum, { jobs }) => sum + jobs, 0), credits };
}

function rowsOf(stages: readonly Forecast[], isFree: boolean): string[][] {
  return stages.flatMap(({ kind, items }) =>
    items.map(({ input, target_language: language, quantity, unit, ...item }) => [
      KINDS[kind].command,
      input,
      language ?? '-',
      [item.status, ...describeRedub(item)].join(', '),
      quantity === null || unit === null ? 'unknown' : describeUnits(quantity, unit),
      creditCell(item, isFree),
    ]),
  );
}

/** The lines that a stage works on; null until an earlier stage has made them. */
type KnownLines =
  | (Omit<StageLines, 'label'> & { readonly speakers?: Speakers; readonly language?: string | null })
  | null;
type KindOfLines = 'subtitle_translation' | 'dubbing';

interface ForecastParts {
  readonly choices: Choices;
  readonly purse: Purse;
  /** Counts the lines that are in the memory. */
  readonly remember: (planned: readonly PlannedItem[]) => Promise<readonly PlannedItem[]>;
}

/** What a stage has made before, or why its targets end there. */
interface StageEnd {
  readonly lines: KnownLines;
  readonly decision: Decision;
}

/** One forecast for each kind of job, in the order of the stages, without kinds that have no jobs; and the targets that are refused. */
async function forecastStages(
  { io, terminal }: Pick<Context, 'io' | 'terminal'>,
  plan: StagePlan,
  { choices, purse, remember }: ForecastParts,
): Promise<{ readonly stages: readonly Forecast[]; readonly refused: readonly UnusableItem[] }> {
  const { stopAfter, voices } = plan.choices;
  const rows: PlannedItem[] = [];
  const refused: UnusableItem[] = [];

  /** The lines as a dub gets them. */
  async function examine(lines: readonly SubtitleLine[], speakers: Speakers): Promise<KnownLines> {
    if (voices === null) return { lines, parts: null };
    const examined = await createLinesExaminer('dubbing', true, io.limits, voices)(lines, speakers);
    return examined.type === 'usable' ? { lines, ...examined } : { lines, parts: null };
  }

  async function add(item: BatchItem): Promise<StageEnd> {
    const { decisions } = await decideItems([item], plan.recorded, stageChoices(item.kind, choices));
    const decision = decisions[0] ?? NEW;
    const [planned = null] = await remember([{ item, decision, paths: null }]);
    rows.push(...(planned === null ? [] : [planned]));
    if (planned?.remembered !== undefined)
      return { lines: { lines: planned.remembered, parts: null }, decision };
    const file = decision.step === 'done' ? decision.files[0] : undefined;
    if (!file?.path.endsWith('.srt')) return { lines: null, decision };
    const lines = await readStageLines(resolve(plan.delivery.folder, file.path));
    const known = lines && { lines, parts: null, language: languageOfStage(file.path) };
    return { lines: known, decision };
  }

  /** Whether a stage ends the target, as in the run. */
  function isEnded({ item }: VideoTarget, { decision }: StageEnd): boolean {
    if (isRefused(decision)) refused.push({ item, decision });
    return isRefused(decision) || decision.step === 'failed';
  }

  async function addLines(
    kind: KindOfLines,
    video: VideoItem,
    from: KnownLines,
    unknownLines: KnownLines = null,
  ): Promise<StageEnd> {
    const language = kind === 'subtitle_translation' ? (from?.language ?? null) : null;
    if (from !== null) return add(linesStage(kind, video, { label: '', ...from }, language));
    const unknown = linesStage(kind, video, { label: '', ...(unknownLines ?? { lines: [], parts: null }) });
    rows.push({ item: { ...unknown, units: null }, decision: NEW, paths: null });
    return { lines: null, decision: NEW };
  }

  /** @returns whether the target goes on after its translation */
  async function addTarget(target: VideoTarget, source: KnownLines): Promise<boolean> {
    const stage = target.given === null ? await addLines('subtitle_translation', target.item, source) : GIVEN;
    if (isEnded(target, stage)) return false;
    const made = stage.lines;
    const known = target.given ?? made;
    const texts = known && { source: source?.lines ?? null, lines: known.lines };
    const missing = texts === null ? [] : findIncomplete(plan, target, plan.recorded, texts);
    if (missing.length > 0) {
      terminal.note(`${target.item.label}: ${describeMissingCues(missing)}; it stops there.`);
      return false;
    }
    if (stopAfter !== null || !isDubbed(target)) return true;
    const spoken = source?.speakers ?? [];
    const named = nameSpeakers(made?.lines ?? [], withSpeakers(source?.lines ?? [], spoken));
    const translation =
      target.given ?? (made && (await examine(made.lines, withoutSpeakers(named).speakers)));
    // As many speakers as the source has.
    await addLines('dubbing', target.item, translation, source && (await examine(source.lines, spoken)));
    return true;
  }

  async function addVideo(video: SourceVideo): Promise<void> {
    if (isCopied(video.item.input)) return;
    const isRecognized = stopAfter === 'recognize' ? video.given === null : needsRecognition(video);
    const recognition = videoStage('subtitle_recognition', video.item);
    const stage = isRecognized ? await add(recognition) : GIVEN;
    const isOver = (target: VideoTarget) =>
      (stopAfter === 'recognize' || needsTranslation(target)) && isEnded(target, stage);
    const targets = video.targets.filter(
      (target) => (needsTranslation(target) || target.given !== null) && !isOver(target),
    );
    if (stopAfter === 'recognize') return;
    const source = isRecognized ? stage.lines : video.given;
    const going: VideoTarget[] = [];
    for (const target of targets) if (await addTarget(target, source)) going.push(target);
    const mixed = stopAfter === null ? going.filter(needsBackground) : [];
    if (mixed.length === 0) return;
    const separation = await add(videoStage('audio_separation', video.item));
    for (const target of mixed) isEnded(target, separation);
  }

  for (const video of plan.videos) await addVideo(video);
  const told = rows.filter(({ decision }) => voices !== null || decision.step === 'done');
  for (const note of describePreparations(told, dubbedSteps(plan))) terminal.note(note);
  const stages = ORDER.flatMap((kind) => {
    const own = rows.filter(({ item }) => item.kind === kind);
    return own.length === 0 ? [] : [forecastPlan(kind, own, purse)];
  });
  return { stages, refused };
}

const NEW: Decision = { step: 'new', after: null };
/** No job makes the lines. */
const GIVEN: StageEnd = { lines: null, decision: NEW };
const ORDER = ['subtitle_recognition', 'subtitle_translation', 'dubbing', 'audio_separation'] as const;
