/** What jobs use and cost. */
import type { MeteringUnit } from '../protocol/kinds.ts';

/** Source: specification, "Metering". */
export interface Units {
  readonly unit: MeteringUnit;
  readonly quantity: number;
}

/** The costs of a job as the service reports them; null where it does not. */
export interface Bill {
  readonly status: string | null;
  readonly quantity: number | null;
  readonly reserved_credits: number | null;
  readonly charged_credits: number | null;
}

/** The total cost of several jobs. */
export interface CreditTotals {
  /** Held by jobs that are not finished. */
  readonly reserved: number;
  readonly charged: number;
  /** Number of jobs whose cost the service does not report. They are in neither of the sums. */
  readonly unknown: number;
}

/** The same with the units of the jobs whose cost is unknown, as far as they are known. */
export interface Costs extends CreditTotals {
  readonly units: readonly Units[];
}
