/** Sums over the costs of jobs, kept up to date: a batch may have thousands, and asks for them with each. Pure. */

/** Of one job, in thousandths of credits, in which sums are exact. */
export type Cost =
  | { readonly state: 'sent'; readonly estimate: number | null }
  | { readonly state: 'reserved' | 'charged'; readonly amount: number }
  /** A service that does not tell what a job costs. */
  | { readonly state: 'untold' };

export interface CostSums {
  add(cost: Cost): void;
  /** It does not count any more. */
  take(cost: Cost): void;
  /** How many jobs are in a state. */
  count(state: Cost['state']): number;
  /** Thousandths of credits of the jobs in a state; of those that are sent, as far as it can be estimated. */
  sum(state: Cost['state']): number;
}

export function createCostSums(): CostSums {
  const none = () => ({ count: 0, sum: 0 });
  const states = { sent: none(), reserved: none(), charged: none(), untold: none() };
  const change = (cost: Cost, sign: 1 | -1) => {
    states[cost.state].count += sign;
    states[cost.state].sum += sign * amountOf(cost);
  };
  return {
    add: (cost) => change(cost, 1),
    take: (cost) => change(cost, -1),
    count: (state) => states[state].count,
    sum: (state) => states[state].sum,
  };
}

function amountOf(cost: Cost): number {
  switch (cost.state) {
    case 'sent':
      return cost.estimate ?? 0;
    case 'untold':
      return 0;
    case 'reserved':
    case 'charged':
      return cost.amount;
  }
}
