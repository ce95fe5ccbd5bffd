/** The costs of the jobs of a batch, and whether the next job may be sent. Pure. Source: contract, "Credits". */

import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { toThousandths } from '../../protocol/metering.ts';
import type { Prices } from '../../protocol/prices.ts';
import type { Bill, Costs, Units } from '../bill.ts';
import type { BatchItem } from '../item.ts';
import { billOf } from '../records/attempts.ts';
import type { BatchRecords } from '../records/batch-records.ts';
import { readPartKey } from '../records/item-key.ts';
import type { NewCredits, RunOptions } from './batch.ts';

/** `wait`: ask again when another job's price is known. `unpriced`: a job costs nobody knows what. */
type BudgetVerdict = 'go' | 'wait' | 'stop' | 'unpriced';

export interface Budget {
  /** @param units null if unknown before the job exists */
  judge(kind: JobKind, units: Units | null): BudgetVerdict;
  /** Whether the price of a unit is known before a job of the kind is sent. */
  knowsPrice(kind: JobKind): boolean;
  /** A job is being sent; `id` is any name for it. The cost of an earlier job of that name still counts. */
  begin(id: string, kind: JobKind, units: Units | null): void;
  /**
   * The service has answered, with or without the cost.
   * @param units of the job, for a service that does not report them
   * @returns the bill with a quantity, if that is known
   */
  bill(id: string, kind: JobKind, bill: Bill | null, units?: Units | null): Bill;
  /** The job was not created. */
  drop(id: string): void;
  totals(): Costs;
  /** Counts what `work` adds as the costs of earlier runs. */
  countEarlier(work: () => void): void;
  /** Credits of all jobs, with assumed ones; null if a cost is neither reported nor stated. */
  committed(): number | null;
  /** The credits that were added since, besides those of earlier runs; null likewise. */
  ofThisRun(): number | null;
}

/** The most started minutes that a video can have. */
const MOST_MINUTES = Math.ceil(LIMITS.videoSeconds / 60);

/**
 * @param maxCredits null for no limit
 * @param newCredits the limit without the costs of earlier runs; null for none
 * @param stated prices that apply until the service reports one
 */
export function createBudget(
  maxCredits: number | null,
  newCredits: NewCredits | null = null,
  stated: Prices = {},
): Budget {
  let earlier = 0;
  let earlierUnreported = 0;
  /** Units of jobs, by their names. */
  const quantities = new Map<string, number>();
  const costs = new Map<string, Cost>();
  const sums = createCostSums();
  const prices = new Map<JobKind, number>();
  const largest = new Map<JobKind, number>();

  function put(id: string, cost: Cost): void {
    costs.set(id, cost);
    sums.add(cost);
  }

  function remove(id: string): void {
    const cost = costs.get(id);
    if (cost !== undefined) sums.take(cost);
    costs.delete(id);
  }

  function estimate(kind: JobKind, quantity: number | null): number | null {
    const price = prices.get(kind) ?? firstPrice(kind);
    if (price === null) return null;
    return price === 0 ? 0 : price * (quantity ?? mostUnits(kind));
  }

  /** In thousandths. */
  function firstPrice(kind: JobKind): number | null {
    const price = stated[kind];
    return price === undefined ? null : thousandthsOfPrice(price);
  }

  /** The cost of a job that the service does not report. */
  function assumeCost(kind: JobKind, quantity: number | null): Cost {
    const amount = estimate(kind, quantity);
    const units = quantity === null ? null : { unit: KINDS[kind].unit, quantity };
    return amount === null || !Number.isFinite(amount)
      ? { state: 'unreported', units }
      : { state: 'assumed', amount, units };
  }

  /** Largest number of units to expect of a job whose size is unknown. */
  function mostUnits(kind: JobKind): number {
    if (KINDS[kind].unit === 'started_minute') return MOST_MINUTES;
    // A larger one than all before would exceed a limit that must hold.
    const known = newCredits === null ? largest.get(kind) : undefined;
    return known ?? Number.POSITIVE_INFINITY;
  }

  const committed = () => sums.sum('sent') + sums.sum('reserved') + sums.sum('charged') + sums.sum('assumed');
  const isAnySent = () => sums.count('sent') > 0;

  return {
    judge(kind, units) {
      if (maxCredits === null && newCredits === null) return 'go';
      if (sums.count('unreported') > 0) return 'unpriced';
      const limit = Math.min(
        toThousandths(maxCredits ?? Number.POSITIVE_INFINITY),
        toThousandths(newCredits?.max ?? Number.POSITIVE_INFINITY) + earlier,
      );
      const next = estimate(kind, units?.quantity ?? null);
      if (next === null) {
        // The first job runs alone, so that the price is known for the others.
        if (isAnySent()) return 'wait';
        return committed() < limit ? 'go' : 'stop';
      }
      if (committed() + next <= limit) return 'go';
      return isAnySent() ? 'wait' : 'stop';
    },
    knowsPrice: (kind) => prices.has(kind) || firstPrice(kind) !== null,
    begin(id, kind, units) {
      // The cost of a job that this one replaces stays in the sums.
      put(id, { state: 'sent', estimate: estimate(kind, units?.quantity ?? null) });
      if (units !== null) quantities.set(id, units.quantity);
    },
    bill(id, kind, reported, units = null) {
      const quantity = reported?.quantity ?? quantities.get(id) ?? units?.quantity ?? null;
      const bill = { ...NO_BILL, ...reported, quantity };
      remove(id);
      put(id, isReported(bill) ? readCost(bill) : assumeCost(kind, quantity));
      if (quantity === null) return bill;
      quantities.set(id, quantity);
      // Some report the charge alone, at the end; 0 may mean that it is not known yet.
      const cost = bill.reserved_credits ?? (bill.charged_credits || null);
      if (cost === null || quantity <= 0) return bill;
      prices.set(kind, Math.ceil(toThousandths(cost) / quantity));
      largest.set(kind, Math.max(quantity, largest.get(kind) ?? 0));
      return bill;
    },
    drop: remove,
    countEarlier(work) {
      const before = committed();
      const unreported = sums.count('unreported');
      work();
      earlier += committed() - before;
      earlierUnreported += sums.count('unreported') - unreported;
    },
    committed: () => (sums.count('unreported') > 0 ? null : committed() / 1000),
    ofThisRun: () =>
      sums.count('unreported') > earlierUnreported ? null : Math.max(0, committed() - earlier) / 1000,
    totals() {
      const unknown = sums.count('unreported') + sums.count('assumed');
      const [reserved, charged] = [sums.sum('reserved') / 1000, sums.sum('charged') / 1000];
      return { reserved, charged, unknown, units: sums.units() };
    },
  };
}

export type CountedItem = Pick<BatchItem, 'key' | 'kind'>;

/** Counts what these items cost in earlier runs towards the limit. */
export function countEarlierBills(
  budget: Budget,
  items: readonly CountedItem[],
  { attempts }: Pick<BatchRecords, 'attempts'>,
): void {
  const kinds = new Map(items.map(({ key, kind }) => [key, kind]));
  budget.countEarlier(() => {
    for (const [item, keys] of kinds.size === 0 ? [] : attempts.byItem) {
      const kind = kinds.get(readPartKey(item)?.item ?? item);
      if (kind === undefined) continue;
      for (const key of keys) {
        const attempt = attempts.byKey.get(key);
        const bill = attempt === undefined ? null : billOf(attempt);
        // The newest may still be running, and this run replaces its bill.
        if (bill !== null) budget.bill(key === keys.at(-1) ? item : key, kind, bill);
      }
    }
  });
}

/** The budget of a run before its first job. @param counted items whose earlier costs count */
export function openBudget(
  { maxCredits, newCredits, prices, fresh }: RunOptions,
  counted: readonly CountedItem[],
  records: Pick<BatchRecords, 'attempts'>,
): Budget {
  const budget = createBudget(maxCredits, newCredits, prices);
  if (!fresh) countEarlierBills(budget, counted, records);
  return budget;
}

/** Where a limit would end a run. Credits are sums with earlier runs; null if they are not reported. */
export interface LimitForecast<Job> {
  /** `price` and `size`: it depends on that of `job`, which is not known yet. */
  readonly verdict: 'fits' | 'stops' | 'price' | 'size';
  /** The first job that would not be sent, or cannot be judged yet; null if all fit. */
  readonly job: Job | null;
  /** Credits before that job. */
  readonly before: number | null;
  /** Credits with that job; null if its cost is unknown. */
  readonly after: number | null;
}

/**
 * Finds the first job that a budget does not let run, if each costs what is expected. The jobs count in the budget then.
 * @param jobs in the order in which they are sent
 */
export function findLimit<Job extends { readonly kind: JobKind; readonly quantity: number | null }>(
  budget: Budget,
  jobs: readonly Job[],
): LimitForecast<Job> {
  for (const [position, job] of jobs.entries()) {
    const { kind, quantity } = job;
    const { unit } = KINDS[kind];
    const before = budget.committed();
    const end = (verdict: LimitForecast<Job>['verdict'], after: number | null = null) => {
      return { verdict, job, before, after };
    };
    if (before === null || !budget.knowsPrice(kind)) return end('price');
    // The run knows the lines when it comes to them; a length that cannot be measured counts as the longest.
    if (quantity === null && unit !== 'started_minute') return end('size');
    const units = quantity === null ? null : { unit, quantity };
    const isSent = budget.judge(kind, units) === 'go';
    const id = String(position);
    budget.begin(id, kind, units);
    const after = budget.committed();
    if (!isSent) return end('stops', after);
    if (units !== null) budget.bill(id, kind, null, units);
  }
  return { verdict: 'fits', job: null, before: budget.committed(), after: budget.committed() };
}

const NO_BILL: Bill = { status: null, quantity: null, reserved_credits: null, charged_credits: null };

function readCost({ status, reserved_credits: reserved, charged_credits: charged }: Bill): Cost {
  if (status === 'released') return { state: 'charged', amount: 0 };
  const isSettled = status === 'settled' || reserved === null;
  return {
    state: isSettled ? 'charged' : 'reserved',
    amount: toThousandths((isSettled ? charged : null) ?? reserved ?? 0),
  };
}

/** Whether the bill states the cost of the job. */
function isReported({ status, reserved_credits: reserved, charged_credits: charged }: Bill): boolean {
  return status === 'released' || reserved !== null || charged !== null;
}

/** Rounded up. Millionths are exact enough, and remove the error of the division that made the price. */
function thousandthsOfPrice(price: number): number {
  return Math.ceil(Math.round(price * 1e6) / 1e3);
}

/** Sums over the costs of jobs, kept up to date: a batch may have thousands, and asks for them with each. Pure. */

/** The cost of one job, in thousandths of credits, in which sums are exact. */
type Cost =
  | { readonly state: 'sent'; readonly estimate: number | null }
  | { readonly state: 'reserved' | 'charged'; readonly amount: number }
  /** The service does not report what the job costs, but its price is known. */
  | { readonly state: 'assumed'; readonly amount: number; readonly units: Units | null }
  /** Nor is its price. */
  | { readonly state: 'unreported'; readonly units: Units | null };

interface CostSums {
  add(cost: Cost): void;
  /** Removes a cost. */
  take(cost: Cost): void;
  /** How many jobs are in a state. */
  count(state: Cost['state']): number;
  /** Thousandths of credits of the jobs in a state; estimates for sent jobs, if possible. */
  sum(state: Cost['state']): number;
  /** Units of the jobs whose cost the service does not report. */
  units(): readonly Units[];
}

function createCostSums(): CostSums {
  const none = () => ({ count: 0, sum: 0 });
  const states = { sent: none(), reserved: none(), charged: none(), assumed: none(), unreported: none() };
  const quantities = new Map<Units['unit'], number>();
  const change = (cost: Cost, sign: 1 | -1) => {
    states[cost.state].count += sign;
    states[cost.state].sum += sign * amountOf(cost);
    if (!('units' in cost) || cost.units === null) return;
    const { unit, quantity } = cost.units;
    quantities.set(unit, (quantities.get(unit) ?? 0) + sign * quantity);
  };
  return {
    add: (cost) => change(cost, 1),
    take: (cost) => change(cost, -1),
    count: (state) => states[state].count,
    sum: (state) => states[state].sum,
    units: () => [...quantities].flatMap(([unit, quantity]) => (quantity > 0 ? [{ unit, quantity }] : [])),
  };
}

function amountOf(cost: Cost): number {
  switch (cost.state) {
    case 'sent':
      return cost.estimate ?? 0;
    case 'unreported':
      return 0;
    case 'reserved':
    case 'charged':
    case 'assumed':
      return cost.amount;
  }
}
