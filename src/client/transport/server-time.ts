/** The clock of the service: `Date` of its answers shows when that of this machine is wrong. Source: specification, "Errors". */
import { parseHttpDate } from '../../base/retry.ts';

/** Below this the clock is not the reason: the service allows 300 s, and `Date` has whole seconds. Source: contract. */
export const SKEW_THRESHOLD_MS = 60_000;

/**
 * The offset to add to the local clock, in milliseconds, or null when the clock is not to blame.
 * @param answer the refused request's answer: `date` is its header, `aged` that it came from a cache, so the date is old
 * @param offsetUsed the offset that the refused request was signed with
 */
export function detectSkew(
  answer: { status: number; date: string | undefined; aged: boolean },
  localNow: number,
  offsetUsed: number,
): number | null {
  if (answer.status !== 401 || answer.aged) return null;
  const serverNow = parseHttpDate(answer.date);
  if (serverNow === null) return null;
  const offset = serverNow - localNow;
  return Math.abs(offset - offsetUsed) > SKEW_THRESHOLD_MS ? offset : null;
}

export interface ServerClock {
  /** Milliseconds since the epoch as the service sees them. */
  now(): number;
  readonly offset: number;
  /** True when this is news: several calls refused together report the same skew. */
  correct(offset: number): boolean;
}

/** A clock that starts out trusting the machine. */
export function createClock(localNow: () => number): ServerClock {
  let offset = 0;
  return {
    now: () => localNow() + offset,
    get offset() {
      return offset;
    },
    correct(next) {
      const news = Math.abs(next - offset) > SKEW_THRESHOLD_MS;
      offset = next;
      return news;
    },
  };
}
