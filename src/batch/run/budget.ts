/** What the jobs of a batch cost, and whether the next one may be sent. No input or output. Source: contract, "Credits". */
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Units } from '../item.ts';

/** What a service tells of the costs of a job; null where it does not. */
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
  /** A job is being sent; `id` is any name for it. */
  begin(id: string, kind: JobKind, units: Units | null): void;
  /** The service told what it costs. */
  bill(id: string, kind: JobKind, bill: Bill | null): void;
  /** It was not made. */
  drop(id: string): void;
  /** Credits that jobs still under way hold, and those that are gone. */
  totals(): { readonly reserved: number; readonly charged: number };
}

/** Of one job, in thousandths of credits, in which sums are exact. */
type Cost =
  | { readonly state: 'sent'; readonly estimate: number | null }
  | { readonly state: 'reserved' | 'charged'; readonly amount: number }
  /** A service that does not tell what a job costs. */
  | { readonly state: 'untold' };

/** A video has at most so many started minutes, whoever measures it. */
const MOST_MINUTES = Math.ceil(LIMITS.videoSeconds / 60);

/** @param maxCredits null for no limit */
export function createBudget(maxCredits: number | null): Budget {
  const costs = new Map<string, Cost>();
  const prices = new Map<JobKind, number>();
  const largest = new Map<JobKind, number>();

  function estimate(kind: JobKind, units: Units | null): number | null {
    const price = prices.get(kind);
    if (price === undefined) return null;
    if (units === null) return price * (largest.get(kind) ?? 0);
    return price * units.quantity;
  }

  function committed(): number {
    let sum = 0;
    for (const cost of costs.values()) {
      if (cost.state === 'sent') sum += cost.estimate ?? 0;
      else if (cost.state !== 'untold') sum += cost.amount;
    }
    return sum;
  }

  const isAnySent = () => [...costs.values()].some(({ state }) => state === 'sent');
  const isUntold = () => [...costs.values()].some(({ state }) => state === 'untold');

  return {
    judge(kind, units) {
      if (maxCredits === null) return 'go';
      if (isUntold()) return 'stop';
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
      costs.set(id, { state: 'sent', estimate: estimate(kind, units) });
    },
    bill(id, kind, bill) {
      costs.set(id, readCost(bill));
      const { quantity, reserved_credits: reserved } = bill ?? { quantity: null, reserved_credits: null };
      if (quantity === null || reserved === null || quantity <= 0) return;
      prices.set(kind, Math.ceil(toThousandths(reserved) / quantity));
      const isMinutes = KINDS[kind].unit === 'started_minute';
      largest.set(kind, isMinutes ? MOST_MINUTES : Math.max(quantity, largest.get(kind) ?? 0));
    },
    drop(id) {
      costs.delete(id);
    },
    totals() {
      const sum = (state: 'reserved' | 'charged') =>
        [...costs.values()].reduce((total, cost) => total + (cost.state === state ? cost.amount : 0), 0);
      return { reserved: sum('reserved') / 1000, charged: sum('charged') / 1000 };
    },
  };
}

function readCost(bill: Bill | null): Cost {
  if (bill === null || bill.reserved_credits === null) return { state: 'untold' };
  const { status, reserved_credits: reserved, charged_credits: charged } = bill;
  if (status === 'released') return { state: 'charged', amount: 0 };
  if (status === 'settled') return { state: 'charged', amount: toThousandths(charged ?? reserved) };
  return { state: 'reserved', amount: toThousandths(reserved) };
}

function toThousandths(credits: number): number {
  return Math.round(credits * 1000);
}
