/** --dry-run: what a job command would do, and what it would cost. Nothing is sent but a question for the credits. */
import { forecast, type Purse } from '../../batch/plan/dry-run.ts';
import { Failure } from '../../client/failure.ts';
import type { CreditBalance, CreditTransaction } from '../../client/index.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { connect } from '../connection.ts';
import type { Context } from '../context.ts';
import { planJobs } from './job-plan.ts';
import { printPlan } from './print-plan.ts';
import { checkSupport } from './support.ts';

/** Somebody looks at a screen; the plan is worth more than the balance. */
export const PATIENCE_MS = 5_000;

/** Prints the plan; returns the exit code 0. @throws Failure as the command itself would before it sends anything */
export async function showPlan(
  kind: JobKind,
  context: Context,
  operands: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<number> {
  const plan = await planJobs(kind, operands, options, context);
  for (const note of plan.notes) context.terminal.note(note);
  const connection = await connect(context);
  try {
    await checkSupport(plan.planned, connection.capabilities);
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(PATIENCE_MS)]);
    await printPlan(context, forecast(plan, await readPurse(connection.client.credits, context, signal)));
    return 0;
  } finally {
    await connection.close();
  }
}

type Account = Awaited<ReturnType<typeof connect>>['client']['credits'];

/** Balance and prices; a service that does not tell is no reason to show no plan. */
export async function readPurse(credits: Account, context: Context, signal: AbortSignal): Promise<Purse> {
  try {
    const [balance, { data }] = await Promise.all([
      credits.balance({ signal }),
      credits.transactions({ limit: LIMITS.pageSize.max }, { signal }),
    ]);
    return { balance: spendableOf(balance), price: (kind) => priceOf(kind, data) };
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    const isExpected = error instanceof Failure || signal.aborted;
    if (!isExpected) throw error;
    const why = error instanceof Failure ? error.message : `no answer in ${PATIENCE_MS / 1000} s`;
    context.terminal.note(`The credits could not be read (${why}); the plan goes without them.`);
    return { balance: null, price: () => null };
  }
}

/** What this key may spend now: no more than the account has, nor than the quota of the key leaves for the month. */
export function spendableOf({
  available_credits: available,
  monthly_usage: month,
}: Pick<CreditBalance, 'available_credits' | 'monthly_usage'>): number {
  return Math.min(available, month.remaining_credits ?? available);
}

/** What the newest job of the kind was charged for a unit; null when none was. */
export function priceOf(
  kind: JobKind,
  newestFirst: readonly Pick<CreditTransaction, 'capability' | 'amount' | 'quantity'>[],
): number | null {
  for (const { capability, amount, quantity } of newestFirst) {
    // What is above zero is a refund or a top-up.
    if (capability === kind && amount < 0 && quantity !== null && quantity > 0) return -amount / quantity;
  }
  return null;
}
