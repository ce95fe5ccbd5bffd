/** Prices that users state, for services whose jobs do not report what they cost. */
import { JOB_KIND_NAMES, type JobKind } from './kind-names.ts';

/** Credits for one unit of a kind. */
export type Prices = Readonly<Partial<Record<JobKind, number>>>;

/** @returns null unless the text is KIND=CREDITS, several separated by commas, each kind once */
export function parsePrices(text: string): Prices | null {
  const prices: Partial<Record<JobKind, number>> = {};
  for (const entry of text.split(',')) {
    const [, name, credits] = /^\s*(\w+)=(\d+(?:\.\d+)?)\s*$/.exec(entry) ?? [];
    const kind = JOB_KIND_NAMES.find((each) => each === name);
    if (kind === undefined || kind in prices) return null;
    prices[kind] = Number(credits);
  }
  return prices;
}

/** Error message for an invalid list of prices, without the final period. @param place where it was given, such as `--price` */
export function describeInvalidPrices(place: string, text: string): string {
  return `invalid ${place} "${text}": expected KIND=CREDITS, several separated by commas, such as dubbing=2.5; kinds: ${JOB_KIND_NAMES.join(', ')}`;
}
