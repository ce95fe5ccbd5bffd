/** Limits on the cost of jobs: prices of units, and the limit of credits that several commands share. */

import { creditsFailure, Failure } from '../../base/failure.ts';
import type { RunOptions } from '../../batch/run/batch.ts';
import type { Budget } from '../../batch/run/budget.ts';
import { namePrices } from '../../batch/run/stopping.ts';
import type { CreditBalance, CreditTransaction } from '../../client/read/resources.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Prices } from '../../protocol/prices.ts';
import type { Connection } from '../context/connection.ts';
import type { Context } from '../context/context.ts';

/**
 * Whether --max-credits can hold for jobs of several kinds, before the first is sent.
 * @param stated prices on the command line, which the advice repeats
 * @returns a Failure (`credits`) that names the prices to state; null if it can
 */
export function unknownPricesFailure(
  kinds: readonly JobKind[],
  stated: Prices,
  budget: Pick<Budget, 'knowsPrice'>,
): Failure | null {
  const unknown = kinds.filter((kind) => !budget.knowsPrice(kind));
  if (unknown.length === 0) return null;
  const names = unknown.map((kind) => KINDS[kind].command).join(', ');
  return creditsFailure(
    'PRICE_UNKNOWN',
    `the price of ${names} is unknown, so --max-credits cannot be enforced; nothing was sent`,
    `State ${namePrices(kinds, stated)}, or leave --max-credits out.`,
  );
}

/** Credits that this run may spend with others; infinite without a limit, null if it is unknown. The embedded service costs nothing. */
function spendingLimit({ spending }: Context, { isFree }: Connection): number | null {
  return spending === undefined || isFree ? Number.POSITIVE_INFINITY : spending.left();
}

/**
 * The options with all prices that are known before the first job, and with the limit that this run shares with others.
 * @param kinds of the jobs that may be sent
 * @throws Failure (`credits`) if a new job could exceed the shared limit, because its price is unknown
 */
export async function limitRun(
  kinds: readonly JobKind[],
  options: RunOptions,
  connection: Connection,
  context: Context,
): Promise<RunOptions> {
  const max = spendingLimit(context, connection);
  if (max === Number.POSITIVE_INFINITY)
    return { ...options, prices: await readRunPrices(kinds, options, connection, context) };
  // The limit of several commands must hold from the first job on.
  const prices = await findPrices(
    kinds,
    stateOf(connection, options),
    connection.client.credits,
    context.signal,
  );
  await requirePrices(kinds, max, prices, connection, context.signal);
  return { ...options, prices, newCredits: { max: kinds.length === 0 ? 0 : (max ?? 0) } };
}

/** The prices of a run without a shared limit. It runs too if the service does not list its charges. */
async function readRunPrices(
  kinds: readonly JobKind[],
  options: RunOptions,
  connection: Connection,
  { signal }: Pick<Context, 'signal'>,
): Promise<Prices> {
  const stated = stateOf(connection, options);
  if (options.maxCredits === null) return stated;
  try {
    return await findPrices(kinds, stated, connection.client.credits, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof Failure)) throw error;
    return stated;
  }
}

/** Prices that are known without asking for charges: all those of the embedded service, or what the user states. */
export function stateOf({ prices }: Pick<Connection, 'prices'>, options: Pick<RunOptions, 'prices'>): Prices {
  return { ...prices, ...options.prices };
}

/** Checks that jobs of these kinds cannot exceed the shared limit. @param max see `spendingLimit` */
async function requirePrices(
  kinds: readonly JobKind[],
  max: number | null,
  prices: Prices,
  { client }: Connection,
  signal: AbortSignal,
): Promise<void> {
  if (kinds.length === 0) return;
  if (max === null) {
    const why = 'the service does not report what an earlier job cost, so another could exceed the limit';
    throw unpricedFailure(kinds, why);
  }
  const unknown = kinds.filter((kind) => prices[kind] === undefined);
  // The service itself refuses jobs that the account cannot pay.
  if (unknown.length === 0 || spendableOf(await client.credits.balance({ signal })) <= max) return;
  const names = unknown.map((kind) => KINDS[kind].command).join(', ');
  throw unpricedFailure(kinds, `the price of ${names} is unknown, so a job could exceed the limit`);
}

function unpricedFailure(kinds: readonly JobKind[], why: string): Failure {
  const commands = kinds.map((kind) => `\`vloc ${KINDS[kind].command}\``).join(', ');
  const once =
    kinds.length === 1 ? 'once: its charge shows the price' : 'once each: their charges show the prices';
  const list = kinds.map((kind) => `${kind}=CREDITS`).join(',');
  return creditsFailure(
    'PRICE_UNKNOWN',
    `${why} of credits; nothing was sent`,
    `Ask the user to run ${commands} ${once}. If that does not help, they can state the price of a unit: set VLOC_PRICE to ${list}. Or use a key whose monthly quota is within the limit.`,
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

/** Adds the prices of these kinds, from all recent charges, to the known ones. @throws Failure of the service */
export async function findPrices(
  kinds: readonly JobKind[],
  known: Prices,
  credits: Pick<Connection['client']['credits'], 'transactions'>,
  signal: AbortSignal,
): Promise<Prices> {
  const prices: Partial<Record<JobKind, number>> = { ...known };
  const isMissing = (kind: JobKind) => prices[kind] === undefined;
  let cursor: string | null | undefined;
  for (let page = 0; page < PRICE_PAGES && cursor !== null && kinds.some(isMissing); page += 1) {
    const list = await credits.transactions({ limit: LIMITS.pageSize.max, cursor }, { signal });
    for (const kind of kinds.filter(isMissing)) {
      const price = priceOf(kind, list.data);
      if (price !== null) prices[kind] = price;
    }
    cursor = list.next_cursor;
  }
  return prices;
}
