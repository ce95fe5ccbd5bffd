/** What jobs have cost, as reports and progress show it. Pure. */
import { describeCredits, describeUnits } from '../../protocol/metering.ts';
import type { Costs, Units } from '../bill.ts';

/** The costs of the jobs of an item, or of a job. */
export interface ItemCosts {
  readonly job_id: string | null;
  /** Null if there is no job, or if its cost is unknown. */
  readonly credits: { readonly reserved: number; readonly charged: number } | null;
  /** True if none of its jobs costs anything: the embedded service made it, or the memory; missing for others. */
  readonly is_free?: true | undefined;
  /** Units of the jobs whose cost the service does not report; missing if it reports all, or if they are not known. */
  readonly units?: readonly Units[] | undefined;
}

/** The costs of all items, with those that cost nothing; null while there is no job. */
export function sumCosts(items: readonly ItemCosts[]): Costs | null {
  const known = items.flatMap(({ credits }) => credits ?? []);
  const unknown = items.filter(({ job_id: job, credits }) => job !== null && credits === null).length;
  if (known.length + unknown === 0) return null;
  const sum = (amounts: readonly number[]) =>
    amounts.reduce((total, amount) => total + Math.round(amount * 1000), 0) / 1000;
  return {
    reserved: sum(known.map(({ reserved }) => reserved)),
    charged: sum(known.map(({ charged }) => charged)),
    unknown,
    units: sumUnits(items.flatMap(({ units }) => units ?? [])),
  };
}

/** The costs of several jobs as those of one. */
export function joinCosts(items: readonly ItemCosts[]): Omit<ItemCosts, 'job_id'> {
  const costs = sumCosts(items);
  const paid = items.filter(({ job_id: job, credits }) => job !== null || credits !== null);
  return {
    credits:
      costs === null || costs.unknown > 0 ? null : { reserved: costs.reserved, charged: costs.charged },
    is_free: (paid.length > 0 && paid.every(({ is_free: isFree }) => isFree)) || undefined,
    units: costs === null || costs.units.length === 0 ? undefined : costs.units,
  };
}

/** The sum of each unit. */
function sumUnits(units: readonly Units[]): readonly Units[] {
  return [...Map.groupBy(units, ({ unit }) => unit)].map(([unit, own]) => ({
    unit,
    quantity: own.reduce((sum, { quantity }) => sum + quantity, 0),
  }));
}

/** `12 credits, 3 credits reserved`; null if nothing was charged, since the service is free or there is no job. */
export function describeItemCosts(items: readonly ItemCosts[]): string | null {
  const costs = sumCosts(items.filter((item) => item.is_free !== true));
  return costs && describeCosts(costs);
}

/** The same for sums: `12 credits and 6 started minutes without a price`; only units from a service that reports no prices. */
export function describeCosts({ charged, reserved, unknown, units }: Costs): string {
  const held = reserved === 0 ? '' : `, ${describeCredits(reserved)} reserved`;
  const credits = `${describeCredits(charged)}${held}`;
  if (unknown === 0) return credits;
  const jobs = unknown === 1 ? '1 job' : `${unknown} jobs`;
  const used =
    units.length === 0 ? jobs : units.map(({ quantity, unit }) => describeUnits(quantity, unit)).join(', ');
  return charged + reserved === 0 ? used : `${credits} and ${used} without a price`;
}
