/** --dry-run of a localization in stages: what each stage would do and cost. Only prices and the balance are requested. */

import type { Failure } from '../../base/failure.ts';
import { isCopied } from '../../batch/input.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import { describeEncodings } from '../../batch/plan/describe-preparations.ts';
import { type Forecast, forecastPlan } from '../../batch/plan/dry-run.ts';
import { decisionFailure } from '../../batch/plan/refusal.ts';
import type { BatchRecords } from '../../batch/records/batch-records.ts';
import { openBudget } from '../../batch/run/budget.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { describeCredits } from '../../protocol/metering.ts';
import type { Context, TableHead } from '../context/context.ts';
import { type OpenCommand, withMemory } from '../jobs/drive.ts';
import { noteShard } from '../jobs/plan-jobs.ts';
import { describeLimit, forecastLimit, type PlanLimit } from '../jobs/plan-limit.ts';
import {
  costCells,
  describeMemory,
  describeRedub,
  FREE,
  printPlan,
  readPurse,
  refusalsFailure,
  shareOf,
} from '../jobs/show-plan.ts';
import { countRemembered } from '../jobs/use-memory.ts';
import { forecastStages } from './forecast-stages.ts';
import { collectStages, decideStages } from './plan-stages.ts';
import type { StageOptions } from './stage-options.ts';
import {
  findUnsupported,
  listKinds,
  plannedOf,
  type StagePlan,
  stagePricesFailure,
  stepsOf,
  withoutTargets,
} from './stage-plan.ts';

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
  const forecasts: StageForecasts =
    decided.videos.length === 0
      ? { plan: decided, stages: [], isFree: false, limit: null }
      : await withMemory(command, false, (opened) => askForStages(opened, decided, records));
  await print(context, all.length, forecasts);
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
  /** Credits that one job for each video and language would cost; null if unknown. Without --terms, missing. */
  readonly one_job_credits?: number | null | undefined;
}

async function askForStages(
  opened: OpenCommand,
  whole: StagePlan,
  recorded: BatchRecords,
): Promise<StageForecasts> {
  const { context, options, runOptions, delivery, terms } = opened;
  const { connection, memory } = await opened.connect();
  const plan = withoutTargets(whole, await findUnsupported(whole, connection.capabilities, context));
  const kinds = [...listKinds(plan), ...(terms === undefined ? [] : (['auto_localization'] as const))];
  const purse = await readPurse(kinds, connection, context, runOptions);
  const remember = (planned: readonly PlannedItem[]) =>
    countRemembered(memory, options, { delivery, planned, recorded, terms });
  const parts = { choices: opened.choices(), purse, remember };
  const { stages, refused, jobs } = await forecastStages(context, plan, parts);
  const asOne = terms && forecastPlan('auto_localization', plannedOf(plan), purse).credits;
  const steps = plan.videos.flatMap(({ targets }) => targets.flatMap(stepsOf));
  const budget = openBudget({ ...runOptions, prices: purse.known }, steps, recorded);
  return {
    plan: withoutTargets(plan, refused),
    stages,
    isFree: connection.isFree,
    one_job_credits: asOne,
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
  const problems = problemsOf(plan);
  const inStages = describePrice(sum.credits);
  const cost =
    whole === undefined
      ? `Cost: ${inStages}.`
      : `Cost in stages: ${inStages}; as one job, without --terms: ${describePrice(whole)}.`;
  await printPlan(context, isFree, {
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
        const how = isCopied(item.input) ? 'Copied' : 'Then put together';
        return `${how} on this machine: ${path}`;
      }),
      ...stages.flatMap(describeMemory),
      `New jobs: ${sum.jobs}. ${isFree ? FREE : cost} Nothing was sent.`,
      ...(refusal ? [] : describeLimit(sum)),
    ],
  });
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
