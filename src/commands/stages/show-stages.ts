/** --dry-run of a localization in stages: what each stage would do and cost. Only prices and the balance are requested. */

import { Failure } from '../../base/failure.ts';
import { isCopied } from '../../batch/input.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import { describeEncodings } from '../../batch/plan/describe-preparations.ts';
import { type Forecast, forecastPlan } from '../../batch/plan/dry-run.ts';
import { decisionFailure } from '../../batch/plan/refusal.ts';
import type { BatchRecords } from '../../batch/records/batch-records.ts';
import { openBudget } from '../../batch/run/budget.ts';
import { choicesOf } from '../../batch/run/open-batch.ts';
import { createOtherLines } from '../../batch/run/recall.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { describeCredits, describeUnits } from '../../protocol/metering.ts';
import { connectService } from '../context/connection.ts';
import type { Context, TableHead } from '../context/context.ts';
import { noteShard } from '../jobs/plan-jobs.ts';
import { describeLimit, forecastLimit, type PlanLimit } from '../jobs/plan-limit.ts';
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
import { countRemembered, openMemoryFor } from '../jobs/use-memory.ts';
import { forecastStages } from './forecast-stages.ts';
import { collectStages, decideStages } from './plan-stages.ts';
import { requireStagePrices } from './stage-jobs.ts';
import type { StageOptions } from './stage-options.ts';
import { findUnsupported, listKinds, type StagePlan, withoutTargets } from './stage-plan.ts';
import { stepsOf } from './staged-run.ts';

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
    const { stages, refused, jobs } = await forecastStages(context, plan, parts);
    const asOne = plan.terms && forecastPlan('auto_localization', plannedOf(plan), purse).credits;
    const steps = plan.videos.flatMap(({ targets }) => targets.flatMap(stepsOf));
    const open = () => openBudget({ ...runOptions, prices: purse.known }, steps, recorded);
    return {
      plan: withoutTargets(plan, refused),
      stages,
      isFree: connection.isFree,
      one_job_credits: asOne,
      refusal: findRefusal(() => requireStagePrices(plan, runOptions, open())),
      ...forecastLimit(runOptions, open(), jobs),
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
            results: videos.map(({ path }) => path),
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
