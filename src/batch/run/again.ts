/** Whether an item that failed for a reason that passes is tried again in the same run. Pure. */
import type { Failure } from '../../errors/failure.ts';
import { FAILURES_IN_A_ROW } from './stop.ts';

export interface Tries {
  /** Of this item. */
  readonly failures: number;
  /** Temporary failures of all items since anything went well. */
  readonly inARow: number;
  /** How many items the batch has. */
  readonly items: number;
  readonly isStopped: boolean;
}

/** While others get through, it is the item. */
const MOST_FAILURES = 5;
/** A service that asks for more is not waited for: the next run is. */
const LONGEST_ASKED_MS = 60_000;

export function afterTemporary({ facts }: Failure, tries: Tries): boolean {
  if (facts.category !== 'temporary' || tries.isStopped) return false;
  // Each call was tried five times already: with a single item, report the failure.
  if (tries.items === 1 || (facts.retryAfterMs ?? 0) > LONGEST_ASKED_MS) return false;
  const isOutage = tries.inARow >= FAILURES_IN_A_ROW;
  return isOutage || tries.failures < MOST_FAILURES;
}

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

/** Milliseconds before the next try: doubling, up to a minute. */
export function pauseOf(failures: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
}
