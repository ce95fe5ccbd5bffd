/** --dry-run of a localization in stages. Nothing is sent but a question for the credits. */

import type { PlannedItem } from '../batch/plan/batch-plan.ts';
import type { Forecast } from '../batch/plan/dry-run.ts';
import { connect } from '../context/connection.ts';
import type { Context, TableHead } from '../context/context.ts';
import { describeUnits } from '../protocol/metering.ts';
import { describeUnusable, PATIENCE_MS, readPurse } from '../workflow/jobs/show-plan.ts';
import { checkStages } from './check-stages.ts';
import { forecastStages } from './forecast-stages.ts';
import { planStages } from './plan-stages.ts';
import type { StageOptions } from './stage-options.ts';
import type { StagePlan } from './stage-plan.ts';

/** Prints the plan; returns the exit code 0. @throws Failure as the command itself would for what is known now */
export async function showStages(
  context: Context,
  operands: readonly string[],
  options: StageOptions,
): Promise<number> {
  const plan = await planStages(context, operands, options);
  for (const note of plan.notes) context.terminal.note(note);
  await print(context, plan, plan.talks.length === 0 ? [] : await askForStages(context, options, plan));
  const failure = describeUnusable({ planned: plannedOf(plan) });
  if (failure !== null) throw failure;
  return 0;
}

async function askForStages(
  context: Context,
  options: StageOptions,
  plan: StagePlan,
): Promise<readonly Forecast[]> {
  const connection = await connect(context);
  try {
    await checkStages(plan, connection.capabilities);
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(PATIENCE_MS)]);
    const purse = await readPurse(connection.client.credits, context, signal);
    return await forecastStages(context, options, plan, purse);
  } finally {
    await connection.close();
  }
}

/** One item for each video and language, as a localization in one job has. */
function plannedOf({ talks, unusable }: StagePlan): readonly PlannedItem[] {
  const wishes = talks.flatMap((talk) => talk.wishes);
  return [
    ...unusable.map(({ item, detail }): PlannedItem => {
      return { item, decision: { step: 'unusable', detail }, paths: null };
    }),
    ...wishes.map(({ item, path }): PlannedItem => {
      return { item, decision: { step: 'new', after: null }, paths: [path] };
    }),
  ];
}

const HEAD: readonly TableHead[] = [
  'STAGE',
  { title: 'INPUT', shrinks: 1 },
  'LANGUAGE',
  'STATUS',
  'UNITS',
  'CREDITS',
];

const STAGE_NAMES: Readonly<Record<string, string>> = {
  subtitle_recognition: 'recognize',
  subtitle_translation: 'translate',
  dubbing: 'dub',
  audio_separation: 'separate',
};

async function print(context: Context, plan: StagePlan, stages: readonly Forecast[]): Promise<void> {
  const sum = sumOf(stages);
  const videos = plan.choices.stopAfter === null ? plan.talks.flatMap(({ wishes }) => wishes) : [];
  switch (context.output) {
    case 'json':
      context.print(
        JSON.stringify(
          { object: 'stages', ...sum, stages, results: pathsOf(plan), not_usable: problemsOf(plan) },
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
      for (const row of rowsOf(stages)) context.print(row.join('\t'));
      return;
    case 'id':
      for (const { job_id: id } of stages.flatMap(({ items }) => items)) if (id !== null) context.print(id);
      return;
    case 'table': {
      const rows = rowsOf(stages);
      if (rows.length > 0) context.print(await context.terminal.table(HEAD, rows));
      for (const { path } of videos) context.terminal.note(`Then put together on this machine: ${path}`);
      const cost = sum.credits === null ? 'not known yet' : `${sum.credits} credits`;
      context.terminal.note(`New jobs: ${sum.jobs}. Cost: ${cost}. Nothing was sent.`);
    }
  }
}

function problemsOf({ unusable }: StagePlan) {
  return unusable.map(({ item, detail }) => ({
    input: item.input.label,
    target_language: item.targetLanguage,
    problem: detail,
  }));
}

function pathsOf({ choices, talks }: StagePlan): readonly string[] {
  return choices.stopAfter === null ? talks.flatMap(({ wishes }) => wishes.map(({ path }) => path)) : [];
}

function sumOf(stages: readonly Forecast[]) {
  const costs = stages.map(({ credits }) => credits);
  const credits = costs.reduce<number | null>(
    (sum, each) => (sum === null || each === null ? null : sum + each),
    0,
  );
  return { jobs: stages.reduce((sum, { jobs }) => sum + jobs, 0), credits };
}

function rowsOf(stages: readonly Forecast[]): string[][] {
  return stages.flatMap(({ kind, items }) =>
    items.map(({ input, target_language: language, status, quantity, unit, credits }) => [
      STAGE_NAMES[kind] ?? kind,
      input,
      language ?? '-',
      status,
      quantity === null || unit === null ? 'unknown' : describeUnits(quantity, unit),
      credits === null ? 'unknown' : String(credits),
    ]),
  );
}
