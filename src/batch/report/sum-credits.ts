/** What several items cost together. */
import type { CreditTotals } from '../item.ts';

export interface Costs {
  readonly job_id: string | null;
  /** Null where there is no job, or its service does not say what it cost. */
  readonly credits: { readonly reserved: number; readonly charged: number } | null;
}

/**
 * Credits are kept in thousandths; sums of them must not show what binary fractions make of that. Null while there is
 * no job.
 */
export function sumCredits(reports: readonly Costs[]): CreditTotals | null {
  const known = reports.flatMap(({ credits }) => credits ?? []);
  const unknown = reports.filter(({ job_id: job, credits }) => job !== null && credits === null).length;
  if (known.length + unknown === 0) return null;
  const sum = (amounts: readonly number[]) =>
    amounts.reduce((total, amount) => total + Math.round(amount * 1000), 0) / 1000;
  return {
    reserved: sum(known.map(({ reserved }) => reserved)),
    charged: sum(known.map(({ charged }) => charged)),
    unknown,
  };
}

/** `Credits: 12 charged, 3 reserved; unknown for 2 items.` */
export function describeCredits({ reserved, charged, unknown }: CreditTotals, items: number): string {
  if (unknown > 0 && unknown === items)
    return 'Credits: unknown; the service does not say what the jobs cost.';
  const rest = unknown === 0 ? '' : `; unknown for ${unknown === 1 ? '1 item' : `${unknown} items`}`;
  return `Credits: ${charged} charged, ${reserved} reserved${rest}.`;
}
