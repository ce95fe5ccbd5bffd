/** What several items cost together. */
import type { ItemReport } from './item-report.ts';

/** Credits are kept in thousandths; sums of them must not show what binary fractions make of that. Null: none is known. */
export function sumCredits(reports: readonly Pick<ItemReport, 'credits'>[]): ItemReport['credits'] {
  const known = reports.flatMap(({ credits }) => credits ?? []);
  if (known.length === 0) return null;
  const sum = (amounts: readonly number[]) =>
    amounts.reduce((total, amount) => total + Math.round(amount * 1000), 0) / 1000;
  return {
    reserved: sum(known.map(({ reserved }) => reserved)),
    charged: sum(known.map(({ charged }) => charged)),
  };
}
