/** What a localization in stages would do, by the recipes that the run carries out. Nothing is sent. */

import { linesStage } from '../../batch/inputs/stage-items.ts';
import type { BatchItem } from '../../batch/item.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import type { Choices, Decision } from '../../batch/plan/decision.ts';
import { describePreparations } from '../../batch/plan/describe-preparations.ts';
import { type Forecast, forecastPlan, type Purse } from '../../batch/plan/dry-run.ts';
import { isRefused } from '../../batch/plan/refusal.ts';
import type { StageJob, StageWork } from '../../batch/recipes/stages.ts';
import { cuesMissingFailure } from '../../batch/run/outcome.ts';
import { jobsOf } from '../../batch/run/step.ts';
import type { Context } from '../context/context.ts';
import { listNewJobs, type NewJob } from '../jobs/plan-limit.ts';
import { createLinesExaminer } from '../jobs/subtitles.ts';
import { decideStage, dubbedSteps, listTargets, type StagePlan, type UnusableItem } from './stage-plan.ts';
import {
  findIncomplete,
  recallTranscript,
  type StagedWay,
  translationOf,
  walkStages,
} from './walk-stages.ts';

interface ForecastParts {
  readonly choices: Choices;
  readonly purse: Purse;
  /** Counts the lines that are in the memory. */
  readonly remember: (planned: readonly PlannedItem[]) => Promise<readonly PlannedItem[]>;
}

interface StageForecasts {
  /** One for each kind of job, in the order of the stages, without kinds that have no jobs. */
  readonly stages: readonly Forecast[];
  /** The targets that a stage refuses. */
  readonly refused: readonly UnusableItem[];
  /** The new jobs in the order in which the run sends them: by how many others each waits for, then by its target. */
  readonly jobs: readonly NewJob[];
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

export async function forecastStages(
  context: Pick<Context, 'io' | 'terminal'>,
  plan: StagePlan,
  { choices, purse, remember }: ForecastParts,
): Promise<StageForecasts> {
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
  const told = planned.filter(({ decision }) => voices !== null || decision.step === 'done');
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
