/** How long the jobs of a run have taken, which tells when others may end. No input or output. */
import type { JobKind } from '../../protocol/kind-names.ts';

export interface WorkTimes {
  /** A job has ended. @param ms of work  @param quantity of what it is metered by; null when that is not told */
  add(kind: JobKind, ms: number, quantity: number | null): void;
  /**
   * Milliseconds of work that a job may take which has taken `elapsedMs` already: the median of those that took longer,
   * by the unit where the quantities are known. Null when there is none.
   */
  expect(kind: JobKind, quantity: number | null, elapsedMs: number): number | null;
}

interface WorkTime {
  readonly ms: number;
  readonly quantity: number | null;
}

/** The newest: enough that odd ones do not move their median, few enough to follow a service that slows down. */
const KEPT = 99;

export function createWorkTimes(): WorkTimes {
  const byKind = new Map<JobKind, readonly WorkTime[]>();
  return {
    add(kind, ms, quantity) {
      byKind.set(kind, [...(byKind.get(kind) ?? []), { ms, quantity }].slice(-KEPT));
    },
    expect(kind, quantity, elapsedMs) {
      const scaled = (byKind.get(kind) ?? []).map((each) => scale(each, quantity));
      return median(scaled.filter((ms) => ms > elapsedMs));
    },
  };
}

/** The time that a job took, as it would be for another quantity. */
function scale({ ms, quantity }: WorkTime, wanted: number | null): number {
  const isKnown = quantity !== null && quantity > 0 && wanted !== null && wanted > 0;
  return isKnown ? (ms * wanted) / quantity : ms;
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
