/** What counts as fitting, said once for the count in the list and for the bars beside the lines. */
import type { LineFit } from './page-facts.ts';

/** A tenth of a second: viewers do not notice less, and loudness is measured in steps of a fifth of that. */
const TOLERATED_MS = 100;

export interface FitRating {
  readonly grade: 'fits' | 'over' | 'silent';
  readonly slotMs: number;
  readonly speechMs: number;
  /** How long speech runs on behind its slot; 0 when it does not. */
  readonly overMs: number;
}

/** Rates one line: whether its speech ends with its slot, runs on behind it, or is missing. */
export function rateFit(line: LineFit): FitRating {
  const slotMs = line.slot_end_ms - line.slot_start_ms;
  if (line.speech === null) return { grade: 'silent', slotMs, speechMs: 0, overMs: 0 };
  const overMs = Math.max(0, line.speech.end_ms - line.slot_end_ms);
  const speechMs = line.speech.end_ms - line.speech.start_ms;
  return { grade: overMs > TOLERATED_MS ? 'over' : 'fits', slotMs, speechMs, overMs };
}
