/** Computes how many units a job costs, and the names of units. Source: specification, "Metering". */
import type { MeteringUnit } from './kinds.ts';
import type { SubtitleLine } from './subtitle-line.ts';

/** The data that the quantity of any unit is computed from. Values that a unit does not use may be 0. */
export interface InputSize {
  readonly seconds: number;
  readonly lines: number;
  /** Unicode code points. */
  readonly characters: number;
}

const MINUTE_MS = 60_000;
const CHARACTER_BLOCK = 1000;

const QUANTITY: Readonly<Record<MeteringUnit, (size: InputSize) => number>> = {
  // Rounded to milliseconds, like durations in containers: 60.0004 s are one minute.
  started_minute: ({ seconds }) => Math.ceil(Math.round(seconds * 1000) / MINUTE_MS),
  line: ({ lines }) => lines,
  started_thousand_characters: ({ characters }) => Math.ceil(characters / CHARACTER_BLOCK),
};

/** Returns the number of units that an input of that size costs. */
export function quantityOf(unit: MeteringUnit, size: InputSize): number {
  return QUANTITY[unit](size);
}

/** Returns the Unicode code points of all texts. Source: contract, "Credits" (estimates). */
export function countCharacters(lines: readonly SubtitleLine[]): number {
  return lines.reduce((sum, line) => sum + [...line.text].length, 0);
}

const UNIT_NAMES: Readonly<Record<MeteringUnit, readonly [one: string, several: string]>> = {
  started_minute: ['started minute', 'started minutes'],
  line: ['line', 'lines'],
  started_thousand_characters: ['started thousand characters', 'started thousands of characters'],
};

/** Credits are decimals with at most three places. Sums of them are exact only in whole thousandths. */
const THOUSANDTHS = 1000;

/** Returns decimal credits as whole thousandths. */
export function toThousandths(credits: number): number {
  return Math.round(credits * THOUSANDTHS);
}

/** Returns thousandths as decimal credits. */
export function toCredits(thousandths: number): number {
  return thousandths / THOUSANDTHS;
}

/** The exact decimal of credits that were calculated, such as a sum of decimals. */
export function roundCredits(credits: number): number {
  return toCredits(toThousandths(credits));
}

/** `1 credit`, `2.5 credits`. */
export function describeCredits(credits: number): string {
  const exact = roundCredits(credits);
  return `${exact} ${exact === 1 ? 'credit' : 'credits'}`;
}

/** Formats as `3 started minutes`. @param unit the service's name for it; an unknown name is printed unchanged */
export function describeUnits(quantity: number, unit: string): string {
  const [, [one, several] = [unit, unit]] = Object.entries(UNIT_NAMES).find(([name]) => name === unit) ?? [];
  return `${quantity} ${quantity === 1 ? one : several}`;
}
