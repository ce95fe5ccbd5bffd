/** How many units a job costs, and what units are called. Source: specification, "Metering". */
import type { MeteringUnit } from './kinds.ts';
import type { SubtitleLine } from './subtitle-line.ts';

/** From this the quantity of any unit follows; what a unit does not count may be 0. */
export interface InputSize {
  readonly seconds: number;
  readonly lines: number;
  /** Unicode code points. */
  readonly characters: number;
}

const MINUTE_MS = 60_000;
const CHARACTER_BLOCK = 1000;

const QUANTITY: Readonly<Record<MeteringUnit, (size: InputSize) => number>> = {
  // To the millisecond, as containers count: 60.0004 s are one minute.
  started_minute: ({ seconds }) => Math.ceil(Math.round(seconds * 1000) / MINUTE_MS),
  line: ({ lines }) => lines,
  started_thousand_characters: ({ characters }) => Math.ceil(characters / CHARACTER_BLOCK),
};

/** The number of units that an input of that size costs. */
export function quantityOf(unit: MeteringUnit, size: InputSize): number {
  return QUANTITY[unit](size);
}

/** Unicode code points of all texts. Source: contract, "Credits" (estimates). */
export function countCharacters(lines: readonly SubtitleLine[]): number {
  return lines.reduce((sum, line) => sum + [...line.text].length, 0);
}

const UNIT_NAMES: Readonly<Record<MeteringUnit, readonly [one: string, several: string]>> = {
  started_minute: ['started minute', 'started minutes'],
  line: ['line', 'lines'],
  started_thousand_characters: ['started thousand characters', 'started thousands of characters'],
};

/** `3 started minutes`. @param unit as a service names it; one that is unknown here is printed unchanged */
export function describeUnits(quantity: number, unit: string): string {
  const [, [one, several] = [unit, unit]] = Object.entries(UNIT_NAMES).find(([name]) => name === unit) ?? [];
  return `${quantity} ${quantity === 1 ? one : several}`;
}
