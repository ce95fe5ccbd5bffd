/** What the jobs of a batch cost, and whether the next one may be sent. No input or output. Source: contract, "Credits". */
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { CreditTotals, Units } from '../item.ts';
import { type Cost, createCostSums } from './cost-sums.ts';

/** The costs of a job as the service reports them; null where it does not. */
export interface Bill {
  readonly status: string | null;
  readonly quantity: number | null;
  readonly reserved_credits: number | null;
  readonly charged_credits: number | null;
}

/** `wait`: ask again when another job's price is known. */
export type Permission = 'go' | 'wait' | 'stop';

export interface Budget {
  /** @param units null when nobody can say before the job is made */
  judge(kind: JobKind, units: Units | null): Permission;
  /** A job is being sent; `id` is any name for it. What an earlier one of that name has cost still counts. */
  begin(id: string, kind: JobKind, units: Units | null): void;
  /** The service told what it costs. */
  bill(id: string, kind: JobKind, bill: Bill | null): void;
  /** It was not made. */
  drop(id: string): void;
  totals(): CreditTotals;
}

/** A video has at most so many started minutes, however it is measured. */
const MOST_MINUTES = Math.ceil(LIMITS.videoSeconds / 60);

/** @param maxCredits null for no limit */
export function createBudget(maxCredits: number | null): Budget {
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

  function estimate(kind: JobKind, units: Units | null): number | null {
    const price = prices.get(kind);
    if (price === undefined) return null;
    if (units === null) return price * (largest.get(kind) ?? 0);
    return price * units.quantity;
  }

  const committed = () => sums.sum('sent') + sums.sum('reserved') + sums.sum('charged');
  const isAnySent = () => sums.count('sent') > 0;

  return {
    judge(kind, units) {
      if (maxCredits === null) return 'go';
      if (sums.count('untold') > 0) return 'stop';
      const limit = toThousandths(maxCredits);
      const next = estimate(kind, units);
      if (next === null) {
        // The first goes alone, to learn the price from it.
        if (isAnySent()) return 'wait';
        return committed() < limit ? 'go' : 'stop';
      }
      if (committed() + next <= limit) return 'go';
      return isAnySent() ? 'wait' : 'stop';
    },
    begin(id, kind, units) {
      // The cost of a job in whose place this one comes stays in the sums.
      put(id, { state: 'sent', estimate: estimate(kind, units) });
    },
    bill(id, kind, bill) {
      remove(id);
      put(id, readCost(bill));
      const { quantity, reserved_credits: reserved } = bill ?? { quantity: null, reserved_credits: null };
      if (quantity === null || reserved === null || quantity <= 0) return;
      prices.set(kind, Math.ceil(toThousandths(reserved) / quantity));
      const isMinutes = KINDS[kind].unit === 'started_minute';
      largest.set(kind, isMinutes ? MOST_MINUTES : Math.max(quantity, largest.get(kind) ?? 0));
    },
    drop: remove,
    totals() {
      const unknown = sums.count('untold');
      return { reserved: sums.sum('reserved') / 1000, charged: sums.sum('charged') / 1000, unknown };
    },
  };
}

function readCost(bill: Bill | null): Cost {
  if (bill === null || !isTold(bill)) return { state: 'untold' };
  const { status, reserved_credits: reserved, charged_credits: charged } = bill;
  if (status === 'released') return { state: 'charged', amount: 0 };
  const isSettled = status === 'settled' || reserved === null;
  return {
    state: isSettled ? 'charged' : 'reserved',
    amount: toThousandths((isSettled ? charged : null) ?? reserved ?? 0),
  };
}

/** Whether the bill says what the job costs. */
export function isTold({ status, reserved_credits: reserved, charged_credits: charged }: Bill): boolean {
  return status === 'released' || reserved !== null || charged !== null;
}

function toThousandths(credits: number): number {
  return Math.round(credits * 1000);
}
