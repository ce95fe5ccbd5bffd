/** How much of a job there is to pay for. Source: specification, "Metering". */
import type { MeteringUnit } from '../../protocol/kinds.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

/** What the quantity of any unit can be told from. */
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

/** The number of units that are reserved for an input of that size. */
export function quantityOf(unit: MeteringUnit, size: InputSize): number {
  return QUANTITY[unit](size);
}

/** Unicode code points of all texts. Source: contract, "Credits" (estimates). */
export function countCharacters(lines: readonly SubtitleLine[]): number {
  return lines.reduce((sum, line) => sum + [...line.text].length, 0);
}
