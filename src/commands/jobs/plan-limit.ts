/** --max-credits in a plan: where the run would stop. */

import type { Forecast } from '../../batch/plan/dry-run.ts';
import type { RunOptions } from '../../batch/run/batch.ts';
import { type Budget, findLimit } from '../../batch/run/budget.ts';
import { namePrices } from '../../batch/run/stopping.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { describeCredits, roundCredits } from '../../protocol/metering.ts';

/** A job that the run would send. */
export interface NewJob {
  readonly kind: JobKind;
  readonly input: string;
  readonly target_language: string | null;
  /** Null if it is not known yet. */
  readonly quantity: number | null;
}

/** An additional field of a plan; null without --max-credits. Credits are sums that include earlier runs. */
export interface PlanLimit {
  readonly limit: {
    readonly max_credits: number;
    /** `price unknown`, `size unknown`: it depends on that of the job that is named. */
    readonly verdict: 'fits' | 'stops' | 'price unknown' | 'size unknown';
    /** The first job that would not be sent, or cannot be judged yet; null if all fit. */
    readonly job: Omit<NewJob, 'quantity'> | null;
    /** Before that job, or of all jobs; null if earlier jobs do not report their cost. */
    readonly before_credits: number | null;
    /** With that job; null if its cost is unknown. */
    readonly after_credits: number | null;
  } | null;
}

/** The jobs that a run would send for a forecast. */
export function listNewJobs({ kind, items }: Forecast): readonly NewJob[] {
  return items
    .filter(({ status, parts }) => status === 'new' && parts > 0)
    .map(({ input, target_language, quantity }) => ({ kind, input, target_language, quantity }));
}

/**
 * @param budget of the run, before its first job
 * @param jobs in the order in which the run sends them
 */
export function forecastLimit(
  { maxCredits }: Pick<RunOptions, 'maxCredits'>,
  budget: Budget,
  jobs: readonly NewJob[],
): PlanLimit {
  if (maxCredits === null) return { limit: null };
  const { verdict, job, before, after } = findLimit(budget, jobs);
  const named = job && { kind: job.kind, input: job.input, target_language: job.target_language };
  const round = (credits: number | null) => (credits === null ? null : roundCredits(credits));
  return {
    limit: {
      max_credits: maxCredits,
      verdict: verdict === 'price' || verdict === 'size' ? `${verdict} unknown` : verdict,
      job: named,
      before_credits: round(before),
      after_credits: round(after),
    },
  };
}

/** The sentence about the limit; nothing without one. */
export function describeLimit({ limit }: PlanLimit): readonly string[] {
  if (limit === null) return [];
  const { max_credits: max, verdict, job, before_credits: before, after_credits: after } = limit;
  if (job === null) return [`Limit: ${before} of ${describeCredits(max)}.`];
  const language = job.target_language === null ? '' : ` → ${job.target_language}`;
  const name = `the ${KINDS[job.kind].work} of ${job.input}${language}`;
  switch (verdict) {
    case 'stops':
      return [
        `Limit: the run would stop before ${name}: with it the cost would be ${describeCredits(after ?? 0)}, over --max-credits ${max}; without it, ${describeCredits(before ?? 0)}.`,
      ];
    case 'size unknown':
      return [`Limit: ${before} of ${describeCredits(max)} before ${name}, whose size is not known yet.`];
    default:
      return [`Limit: --max-credits ${max} cannot be compared yet; state ${namePrices([job.kind])}.`];
  }
}
