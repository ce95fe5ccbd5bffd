/** The end of a run of samples: what they cost, what the whole videos cost, and the command for them. */

import type { Units } from '../../batch/bill.ts';
import { type FileInput, isSplit, type JobInput, wholeOf } from '../../batch/input.ts';
import { unitsOf } from '../../batch/inputs/items.ts';
import type { BatchOutcome } from '../../batch/item.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import { describeCredits, describeUnits, roundCredits } from '../../protocol/metering.ts';
import type { Context } from '../context/context.ts';
import { wholeCommand } from '../context/printed-command.ts';

interface SampleUnits {
  readonly unit: Units['unit'];
  /** Number of units of the jobs of this run. */
  readonly quantity: number;
  readonly whole_quantity: number;
}

export interface SampleReport {
  readonly units: readonly SampleUnits[];
  /** Credits of the jobs of this run; null if the service does not report them, and for several kinds of jobs. */
  readonly charged_credits: number | null;
  /** At the same price; null if this run does not show it. */
  readonly whole_credits: number | null;
  /** The command for the whole videos. */
  readonly continue: string;
}

/**
 * The report of the samples that are done. Null for a run without any, and for one that stopped before its end.
 * @param outcomes of all jobs
 * @param ratios in stages, how much longer a video is than its sample, by its name: the units of whole subtitles are estimated
 */
export function reportSamples(
  context: Context,
  outcomes: readonly BatchOutcome[],
  ratios: ReadonlyMap<string, number> | null = null,
): SampleReport | null {
  const jobs = jobsOf(outcomes, ({ item: { kind, input, units, gathers } }) => {
    if (gathers !== undefined) return null;
    if (isSample(input)) return unitsOf(kind, wholeOf(input));
    const ratio = ratios?.get(input.name);
    return units === null || ratio === undefined
      ? null
      : { ...units, quantity: Math.ceil(units.quantity * ratio) };
  });
  if (jobs === null) return null;
  const made = jobs.filter(({ isNew }) => isNew);
  const credits = made.map(({ state }) => state.credits);
  const isPriced = ratios === null && !credits.includes(null);
  const charged = isPriced ? roundCredits(sum(credits.map((each) => each ?? 0))) : null;
  const price =
    charged === null || made.length === 0 ? null : charged / sum(made.map(({ units }) => units.quantity));
  const whole = sum(jobs.map((job) => job.whole.quantity));
  const isLong = outcomes.some(({ item: { input } }) => isSample(input) && isSplit(wholeOf(input)));
  return {
    units: sumUnits(jobs),
    charged_credits: charged,
    whole_credits: price === null ? null : roundCredits(price * whole),
    continue: wholeCommand(context, isLong),
  };
}

interface SampleJob {
  readonly state: BatchOutcome['state'] & { readonly phase: 'done' };
  readonly units: Units;
  readonly whole: Units;
  /** Whether this run has made it. */
  readonly isNew: boolean;
}

/** @param wholeUnits units of the whole; null for a job that is not of a sample  @returns null if none is done, or one is left */
function jobsOf(
  outcomes: readonly BatchOutcome[],
  wholeUnits: (outcome: BatchOutcome) => Units | null,
): readonly SampleJob[] | null {
  const isStopped = outcomes.some(({ state }) => state.phase === 'left');
  const jobs = outcomes.flatMap((outcome): SampleJob[] => {
    const { item, state } = outcome;
    const whole = wholeUnits(outcome);
    if (state.phase !== 'done' || item.units === null || whole === null) return [];
    return [{ state, units: item.units, whole, isNew: state.before === null }];
  });
  return jobs.length === 0 || isStopped ? null : jobs;
}

function sumUnits(jobs: readonly SampleJob[]): readonly SampleUnits[] {
  return [...Map.groupBy(jobs, ({ units }) => units.unit)].map(([unit, own]) => ({
    unit,
    quantity: sum(own.map(({ units, isNew }) => (isNew ? units.quantity : 0))),
    whole_quantity: sum(own.map(({ whole }) => whole.quantity)),
  }));
}

function isSample(input: JobInput): input is FileInput {
  return input.type === 'file' && input.sample !== undefined;
}

/** @param isFree whether the service is the embedded one, whose credits cost nothing */
export function noteSamples(
  { terminal }: Pick<Context, 'terminal'>,
  report: SampleReport,
  isFree: boolean,
): void {
  const { units, charged_credits: charged, whole_credits: whole } = report;
  const isPriced = charged !== null && whole !== null && !isFree;
  const paid = units.map(({ quantity, unit }) => describeUnits(quantity, unit)).join(', ');
  const wholes = units.map(({ whole_quantity, unit }) => describeUnits(whole_quantity, unit)).join(', ');
  const rest = units.length === 1 ? wholes : `about ${wholes}`;
  const [verb, costs] = isFree ? ['used', 'takes'] : ['paid', 'costs'];
  const [paidCredits, restCredits] = isPriced
    ? [charged, whole].map((credits) => ` (${describeCredits(credits)})`)
    : ['', ''];
  terminal.note(`${paid} ${verb}${paidCredits}; the whole ${costs} ${rest}${restCredits}; continue with:`);
  terminal.note(`  ${report.continue}`);
}

/** Prints the units of the whole videos of planned samples; nothing without samples. */
export function noteWhole(
  { terminal }: Pick<Context, 'terminal'>,
  planned: readonly Pick<PlannedItem, 'item'>[],
): void {
  const wholes = planned.flatMap(({ item: { kind, input, gathers } }) =>
    isSample(input) && gathers === undefined ? (unitsOf(kind, wholeOf(input)) ?? []) : [],
  );
  const [first] = wholes;
  if (first === undefined) return;
  terminal.note(`The whole has ${describeUnits(sum(wholes.map(({ quantity }) => quantity)), first.unit)}.`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
