/** --dry-run of a localization in stages: what each stage would do and cost. Only prices and the balance are requested. */

import type { Failure } from '../../base/failure.ts';
import { isCopied } from '../../batch/input.ts';
import { linesStage } from '../../batch/inputs/stage-items.ts';
import type { BatchItem } from '../../batch/item.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import type { Decision } from '../../batch/plan/decision.ts';
import { describeEncodings, describePreparations } from '../../batch/plan/describe-preparations.ts';
import { type Forecast, forecastPlan, type Purse } from '../../batch/plan/dry-run.ts';
import { decisionFailure, isRefused } from '../../batch/plan/refusal.ts';
import type { StageJob, StageWork } from '../../batch/recipes/stages.ts';
import type { BatchRecords } from '../../batch/records/batch-records.ts';
import { openBudget } from '../../batch/run/budget.ts';
import { cuesMissingFailure } from '../../batch/run/outcome.ts';
import { jobsOf } from '../../batch/run/step.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { describeCredits } from '../../protocol/metering.ts';
import type { Context, TableHead } from '../context/context.ts';
import type { Presentation } from '../context/output/presentation.ts';
import { type OpenCommand, withMemory } from '../jobs/drive.ts';
import { noteShard } from '../jobs/plan-jobs.ts';
import { describeLimit, forecastLimit, listNewJobs, type PlanLimit } from '../jobs/plan-limit.ts';
import {
  costCells,
  describeMemory,
  describeRedub,
  FREE,
  noteProvenance,
  presentPlan,
  readPurse,
  refusalsFailure,
  shareOf,
} from '../jobs/show-plan.ts';
import { createLinesExaminer } from '../jobs/subtitles.ts';
import { countRemembered } from '../jobs/use-memory.ts';
import { collectStages, decideStages } from './plan-stages.ts';
import { reasonsForStages, type StageOptions } from './stage-options.ts';
import {
  decideStage,
  dubbedSteps,
  findUnsupported,
  listKinds,
  listTargets,
  plannedOf,
  type StagePlan,
  stagePricesFailure,
  stepsOf,
  type UnusableItem,
  withoutTargets,
} from './stage-plan.ts';
import {
  findIncomplete,
  recallTranscript,
  type StagedWay,
  translationOf,
  walkStages,
} from './walk-stages.ts';

/** Prints the plan. @returns the exit code 0  @throws the Failure that the command would end with, as far as it is known */
export async function showStages(
  context: Context,
  operands: readonly string[],
  options: StageOptions,
): Promise<number> {
  const { command, collected } = await collectStages(context, operands, options);
  const { records, all } = collected;
  const decided = await decideStages(context, options, collected, records, records);
  if (decided.choices.stopAfter === null) {
    for (const note of describeEncodings(plannedOf(decided))) context.terminal.note(note);
  }
  noteShard(context, collected);
  noteProvenance(command);
  const forecasts: StageForecasts =
    decided.videos.length === 0
      ? { plan: decided, stages: [], isFree: false, limit: null }
      : await withMemory(command, false, (opened) =>
          askForStages(opened, decided, records, reasonsForStages(options)),
        );
  await context.present.show(presentStages(context.io.cwd, all.length, forecasts));
  const failure = refusalsFailure(plannedOf(forecasts.plan)) ?? forecasts.refusal ?? null;
  if (failure !== null) throw failure;
  return 0;
}

interface StageForecasts extends PlanLimit {
  /** Without the targets that a stage ends. */
  readonly plan: StagePlan;
  readonly stages: readonly Forecast[];
  readonly isFree: boolean;
  /** The run would end so, before it sends anything. */
  readonly refusal?: Failure | null;
  /** Credits that one job for each video and language would cost; null if unknown. Missing if only stages do what is asked for. */
  readonly one_job_credits?: number | null | undefined;
  /** What one job could not do. */
  readonly reasons?: readonly string[];
}

async function askForStages(
  opened: OpenCommand,
  whole: StagePlan,
  recorded: BatchRecords,
  reasons: readonly string[],
): Promise<StageForecasts> {
  const { context, options, runOptions, delivery, terms } = opened;
  const { connection, memory } = await opened.connect();
  const plan = withoutTargets(whole, await findUnsupported(whole, connection.capabilities, context));
  const kinds = [...listKinds(plan), ...(reasons.length === 0 ? [] : (['auto_localization'] as const))];
  const purse = await readPurse(kinds, connection, context, runOptions);
  const remember = (planned: readonly PlannedItem[]) =>
    countRemembered(memory, options, { delivery, planned, recorded, terms });
  const { stages, refused, jobs } = await forecastStages(opened, plan, purse, remember);
  const asOne =
    reasons.length === 0 ? undefined : forecastPlan('auto_localization', plannedOf(plan), purse).credits;
  const steps = plan.videos.flatMap(({ targets }) => targets.flatMap(stepsOf));
  const budget = openBudget({ ...runOptions, prices: purse.known }, steps, recorded);
  return {
    plan: withoutTargets(plan, refused),
    stages,
    isFree: connection.isFree,
    one_job_credits: asOne,
    reasons,
    refusal: stagePricesFailure(plan, runOptions, budget),
    ...forecastLimit(runOptions, budget, jobs),
  };
}

const HEAD: readonly TableHead[] = [
  'STAGE',
  { title: 'INPUT', wraps: 20 },
  'LANGUAGE',
  'STATUS',
  'UNITS',
  'CREDITS',
];

function presentStages(
  cwd: string,
  total: number,
  { plan, stages, isFree, one_job_credits: whole, reasons = [], limit, refusal }: StageForecasts,
): Presentation {
  const sum = {
    ...sumOf(stages),
    ...(whole === undefined ? {} : { one_job_credits: whole }),
    limit,
  };
  const videos = plan.choices.stopAfter === null ? listResults(plan) : [];
  const problems = problemsOf(plan);
  const inStages = describePrice(sum.credits);
  const cost =
    whole === undefined
      ? `Cost: ${inStages}.`
      : `Cost in stages: ${inStages}; as one job, without ${reasons.join(' and ')}: ${describePrice(whole)}.`;
  return presentPlan(cwd, isFree, {
    document: {
      object: 'stages',
      ...shareOf(plan.delivery, total),
      ...sum,
      stages,
      results: videos.map(({ path }) => path),
      not_usable: problems,
    },
    lines: [
      ...stages.map((stage) => ({ type: 'stage', ...stage })),
      ...problems.map((each) => ({ type: 'not_usable', ...each })),
      { type: 'summary', ...sum },
    ],
    items: stages.flatMap(({ items }) => items),
    head: HEAD,
    rows: () => rowsOf(stages, isFree),
    notes: [
      ...videos.map(({ item, path }) => {
        const { input, bilingual } = item;
        const how = isCopied(input) ? 'Copied' : 'Then put together';
        const what = bilingual === undefined ? '' : `, with the spoken words ${bilingual} their translation`;
        return `${how} on this machine${what}: ${path}`;
      }),
      ...stages.flatMap(describeMemory),
      `New jobs: ${sum.jobs}. ${isFree ? FREE : cost} Nothing was sent.`,
      ...(refusal ? [] : describeLimit(sum)),
    ],
  });
}

/** The videos for the user, with their paths. */
function listResults({
  videos,
  files,
}: StagePlan): readonly { readonly item: BatchItem; readonly path: string }[] {
  const targets = videos.flatMap((video) => video.targets).filter(({ item }) => item.isInner !== true);
  const several = files.flatMap(({ item, paths }) => (paths ?? []).map((path) => ({ item, path })));
  return [...targets, ...several];
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
    items.map((item) => [
      KINDS[kind].command,
      item.input,
      item.target_language ?? '-',
      [item.status, ...describeRedub(item)].join(', '),
      ...costCells(item, isFree),
    ]),
  );
}

/** A job of a recipe, and what the records know of it. */
interface Row extends PlannedItem {
  /** Keys of the jobs that it waits for. */
  readonly after: readonly string[];
  /** Of the first target that needs it. */
  readonly place: number;
}

const ORDER = ['subtitle_recognition', 'subtitle_translation', 'dubbing', 'audio_separation'] as const;
const NEW: Decision = { step: 'new', after: null };

/**
 * What a localization in stages would do, by the recipes that the run carries out.
 * @param remember see `countRemembered`
 * @returns a forecast for each kind of job, in the order of the stages, without kinds that have none; the targets that a stage refuses;
 *   and the new jobs in the order in which the run sends them: by how many others each waits for, then by its target
 */
async function forecastStages(
  { context, choices: decideNow }: OpenCommand,
  plan: StagePlan,
  purse: Purse,
  remember: (planned: readonly PlannedItem[]) => Promise<readonly PlannedItem[]>,
) {
  const choices = decideNow();
  const { voices } = plan.choices;
  const refused: UnusableItem[] = [];
  /** By key of the item. */
  const looks = new Map<string, Promise<Row>>();

  async function look(job: StageJob, way: StagedWay, place: number): Promise<Row> {
    const after = jobsOf<StageWork>(job).flatMap(({ id }) => (id === job.id ? [] : id));
    const { part } = job;
    const isKnown = part.units !== null || part.input.type !== 'lines';
    const { item, decision } = isKnown
      ? await decideStage(plan, choices, part)
      : { item: await likeSource(part, way), decision: NEW };
    const [planned = { item, decision, paths: null }] = await remember([{ item, decision, paths: null }]);
    return { ...planned, after, place };
  }

  /** A dub of lines that are not known has as many speakers as their source. */
  async function likeSource(item: BatchItem, { target, sourceSubtitle }: StagedWay): Promise<BatchItem> {
    if (item.kind !== 'dubbing' || voices === null || sourceSubtitle === null) return item;
    const { lines, speakers } = sourceSubtitle;
    const examined = await createLinesExaminer('dubbing', true, context.io.limits, voices)(lines, speakers);
    const like = examined.type === 'usable' ? { label: '', lines, ...examined } : null;
    return { ...linesStage('dubbing', target.item, like), units: null };
  }

  /** Jobs that are due make nothing, and are listed with those behind them. */
  async function forecast(way: StagedWay, place: number): Promise<void> {
    const { item } = way.target;
    let isOver = false;
    const end = ({ message }: Error) => {
      context.terminal.note(`${item.label}: ${message}; it stops there.`);
      isOver = true;
    };
    const reading = { context, plan };
    await walkStages(reading, way, {
      isOver: () => isOver,
      end,
      async run(job) {
        const row = looks.get(job.id) ?? look(job, way, place);
        looks.set(job.id, row);
        const { decision, remembered } = await row;
        // The translation is known before it is made.
        if (remembered !== undefined) way.targetSubtitle = await translationOf(reading, way, remembered);
        if (isRefused(decision)) refused.push({ item, decision });
        isOver ||= isRefused(decision) || decision.step === 'failed';
        return decision.step === 'done' ? (decision.files[0]?.path ?? null) : undefined;
      },
      work: {
        recall: () => recallTranscript(reading, way, plan.recorded.attempts),
        async check() {
          const missing = findIncomplete(plan, way, plan.recorded);
          if (missing.length > 0) end(cuesMissingFailure(missing, item.label));
        },
      },
    });
  }

  for (const [place, { video, target, recipe }] of listTargets(plan).entries()) {
    const subtitles = { sourceSubtitle: video.given, targetSubtitle: target.given };
    await forecast({ video, target, recipe, ...subtitles }, place);
  }
  const planned = await Promise.all(looks.values());
  const isSound = ({ input }: BatchItem) => input.type === 'file' && input.sound !== undefined;
  const told = planned.filter(
    ({ item, decision }) => voices !== null || decision.step === 'done' || isSound(item),
  );
  for (const line of describePreparations(told, dubbedSteps(plan))) context.terminal.note(line);
  const stages = ORDER.flatMap((kind) => {
    const own = planned.filter(({ item }) => item.kind === kind);
    return own.length === 0 ? [] : [forecastPlan(kind, own, purse)];
  });
  const due = planned.flatMap((each) => {
    const { after, place } = each;
    const { key, kind } = each.item;
    return listNewJobs(forecastPlan(kind, [each], purse)).map((job) => ({ job, key, after, place }));
  });
  const keys = new Set(due.map(({ key }) => key));
  const roundOf = ({ after }: Pick<Row, 'after'>) => after.filter((key) => keys.has(key)).length;
  const sorted = due.toSorted((left, right) => roundOf(left) - roundOf(right) || left.place - right.place);
  return { stages, refused, jobs: sorted.map(({ job }) => job) };
}
