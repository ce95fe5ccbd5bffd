/** The end of a run of samples: what they cost, what the whole videos cost, and the command for them. */

import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import { roundCredits } from '../../batch/plan/dry-run.ts';
import { isSplit, wholeOf } from '../../batch/plan/input.ts';
import { unitsOf } from '../../batch/plan/items.ts';
import type { RunOutcome } from '../../batch/run/batch.ts';
import { describeUnits } from '../../protocol/metering.ts';
import type { Context } from '../context/context.ts';
import { wholeCommand } from '../context/printed-command.ts';

export interface SampleReport {
  /** The unit of both quantities. */
  readonly unit: string;
  /** Units of the jobs of this run. */
  readonly quantity: number;
  readonly whole_quantity: number;
  /** Credits of the jobs of this run, as the service reports them; null if it does not. */
  readonly charged_credits: number | null;
  /** At the same price; null if this run does not show it. */
  readonly whole_credits: number | null;
  /** The command for the whole videos. */
  readonly continue: string;
}

/** Null for a run without samples, and for one whose samples are not all done. */
export function reportSamples(
  context: Context,
  outcomes: readonly Pick<RunOutcome, 'item' | 'state'>[],
): SampleReport | null {
  const samples = outcomes.flatMap(({ item, state }) => {
    const { units, input } = item;
    const isSample = input.type === 'file' && input.sample !== undefined;
    return isSample && state.phase === 'done' && units !== null ? [{ item, state, units }] : [];
  });
  const [first] = samples;
  if (first === undefined || samples.length < outcomes.length) return null;
  const wholes = samples.map(({ item }) => ({ kind: item.kind, input: wholeOf(item.input) }));
  const made = samples.filter(({ state }) => state.before === null);
  const quantity = sum(made.map(({ units }) => units.quantity));
  const whole = sum(wholes.map(({ kind, input }) => unitsOf(kind, input)?.quantity ?? 0));
  const credits = made.map(({ state }) => state.credits);
  const charged = credits.includes(null) ? null : roundCredits(sum(credits.map((each) => each ?? 0)));
  return {
    unit: first.units.unit,
    quantity,
    whole_quantity: whole,
    charged_credits: charged,
    whole_credits: charged === null || quantity === 0 ? null : roundCredits((charged / quantity) * whole),
    continue: wholeCommand(
      context,
      wholes.some(({ input }) => isSplit(input)),
    ),
  };
}

/** Prints what the whole videos of planned samples cost; nothing without samples. */
export function noteWhole(
  { terminal }: Pick<Context, 'terminal'>,
  planned: readonly Pick<PlannedItem, 'item'>[],
): void {
  const wholes = planned.flatMap(({ item: { kind, input } }) => {
    return input.type === 'file' && input.sample !== undefined ? (unitsOf(kind, wholeOf(input)) ?? []) : [];
  });
  const [first] = wholes;
  if (first === undefined) return;
  terminal.note(`The whole costs ${describeUnits(sum(wholes.map(({ quantity }) => quantity)), first.unit)}.`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** @param isFree whether the service is the embedded one, whose credits cost nothing */
export function noteSamples(
  { terminal }: Pick<Context, 'terminal'>,
  report: SampleReport,
  isFree: boolean,
): void {
  const {
    unit,
    quantity,
    whole_quantity: whole,
    charged_credits: charged,
    whole_credits: wholeCredits,
  } = report;
  const credits = (amount: number | null) => (amount === null || isFree ? '' : ` (${amount} credits)`);
  const paid = `${describeUnits(quantity, unit)} ${isFree ? 'used' : 'paid'}${credits(wholeCredits === null ? null : charged)}`;
  const rest = `the whole ${isFree ? 'takes' : 'costs'} ${whole}${credits(wholeCredits)}`;
  terminal.note(`${paid}; ${rest}; continue with:`);
  terminal.note(`  ${report.continue}`);
}
