/** Limits on the cost of jobs: prices of units, and the limit of credits that several commands share. */

import { creditsFailure, type Failure } from '../../base/failure.ts';
import type { NewCredits, RunOptions } from '../../batch/run/batch.ts';
import type { CreditBalance, CreditTransaction } from '../../client/read/resources.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Prices } from '../../protocol/prices.ts';
import type { Connection } from '../context/connection.ts';
import type { Context } from '../context/context.ts';

/** The options with the prices that the user states about a remote service. The embedded one reports its own. */
export function withPrices(options: RunOptions, { prices, capabilities }: Connection): RunOptions {
  return capabilities === null ? { ...options, prices: { ...prices, ...options.prices } } : options;
}

/** Credits that this run may spend with others; infinite without a limit, null if it is unknown. The embedded service costs nothing. */
export function spendingLimit({ spending }: Context, { capabilities }: Connection): number | null {
  return spending === undefined || capabilities !== null ? Number.POSITIVE_INFINITY : spending.left();
}

/** The context without the shared limit if the service is the embedded one, whose credits cost nothing. */
export function chargedContext(context: Context, { capabilities }: Connection): Context {
  const { spending: _spending, ...free } = context;
  return capabilities === null ? context : free;
}

/**
 * The limit for jobs of a kind, with a price that makes it hold for the first job, too. @param max see `spendingLimit`
 * @throws Failure (`credits`) if a new job could exceed it, because the price is unknown
 */
export async function limitKind(
  kind: JobKind,
  max: number | null,
  { client, prices }: Connection,
  stated: Prices,
  signal: AbortSignal,
): Promise<NewCredits> {
  if (max === null) {
    const why = 'the service does not report what an earlier job cost, so another could exceed the limit';
    throw unpricedFailure(kind, why);
  }
  const price = stated[kind] ?? prices[kind] ?? (await findPrice(kind, client.credits, signal));
  if (price !== null) return { max, price };
  // The service itself refuses jobs that the account cannot pay.
  if (spendableOf(await client.credits.balance({ signal })) <= max) return { max, price };
  throw unpricedFailure(
    kind,
    `the price of ${KINDS[kind].command} is unknown, so a job could exceed the limit`,
  );
}

function unpricedFailure(kind: JobKind, why: string): Failure {
  return creditsFailure(
    'PRICE_UNKNOWN',
    `${why} of credits; nothing was sent`,
    `Ask the user to run \`vloc ${KINDS[kind].command}\` once: its charge shows the price. If it does not, they can state the price of a unit: set VLOC_PRICE to ${kind}=CREDITS. Or use a key whose monthly quota is within the limit.`,
  );
}

/** The credits that this key may spend: limited by the account and by the monthly quota of the key. */
export function spendableOf({
  available_credits: available,
  monthly_usage: month,
}: Pick<CreditBalance, 'available_credits' | 'monthly_usage'>): number {
  return Math.min(available, month.remaining_credits ?? available);
}

/** The price of a unit, from the newest charge for the kind; null without charges. */
export function priceOf(
  kind: JobKind,
  newestFirst: readonly Pick<CreditTransaction, 'capability' | 'amount' | 'quantity'>[],
): number | null {
  for (const { capability, amount, quantity } of newestFirst) {
    // Positive amounts are refunds and top-ups.
    if (capability === kind && amount < 0 && quantity !== null && quantity > 0) return -amount / quantity;
  }
  return null;
}

/** As many pages of charges as are read to find a price: 500 charges of other kinds. */
const PRICE_PAGES = 10;

/** The same from all recent charges, not only the newest. @throws Failure of the service */
export async function findPrice(
  kind: JobKind,
  credits: Pick<Connection['client']['credits'], 'transactions'>,
  signal: AbortSignal,
): Promise<number | null> {
  let cursor: string | null | undefined;
  for (let page = 0; page < PRICE_PAGES && cursor !== null; page += 1) {
    const list = await credits.transactions({ limit: LIMITS.pageSize.max, cursor }, { signal });
    const price = priceOf(kind, list.data);
    if (price !== null) return price;
    cursor = list.next_cursor;
  }
  return null;
}
