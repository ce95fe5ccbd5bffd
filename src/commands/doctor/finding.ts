/** What a check found, and how a check is run: within its time, and never throwing for what it looks at. */

import { startTimeLimit, TimeOver } from '../../client/transport/time-limit.ts';
import { formatDuration } from '../../context/format.ts';
import { Failure, type FailureCategory } from '../../errors/failure.ts';

/** Whose fault a failed check is; the exit code follows from it. */
export type Area = 'configuration' | 'disk' | 'network';
export type Grade = 'ok' | 'warn' | 'fail';

export interface Result {
  readonly grade: Grade;
  /** What was found, without the final stop. Holds no secret. */
  readonly message: string;
  /** What to do about it. */
  readonly fix?: string;
  /** The same for programs. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

export interface Finding extends Result {
  readonly check: string;
  readonly area: Area;
}

/** Runs one check. */
export type Inspect = (
  check: string,
  area: Area,
  look: (signal: AbortSignal) => Promise<Result> | Result,
) => Promise<Finding>;

/** Looking at a healthy system takes milliseconds; a check of a broken one must end too. */
export const LIMIT_MS = 5_000;

/**
 * Makes the function that runs checks: what a check throws, and a check that takes too long, is a finding too.
 * @throws the reason of the signal when that is aborted
 */
export function createInspect(signal: AbortSignal, limitMs = LIMIT_MS): Inspect {
  return async (check, area, look) => {
    const limit = startTimeLimit(limitMs, signal);
    const over = Promise.withResolvers<never>();
    const onAbort = () => over.reject(limit.signal.reason);
    limit.signal.addEventListener('abort', onAbort, { once: true });
    try {
      return { check, area, ...(await Promise.race([look(limit.signal), over.promise])) };
    } catch (error) {
      signal.throwIfAborted();
      return findingOf(error, check, area, limitMs);
    } finally {
      limit.signal.removeEventListener('abort', onAbort);
      limit.clear();
    }
  };
}

const AREAS: Readonly<Partial<Record<FailureCategory, Area>>> = {
  configuration: 'configuration',
  temporary: 'network',
  timeout: 'network',
  disk: 'disk',
};

function findingOf(error: unknown, check: string, area: Area, limitMs: number): Finding {
  if (error instanceof TimeOver) {
    return { check, area, grade: 'fail', message: `no answer within ${formatDuration(limitMs)}` };
  }
  if (!(error instanceof Failure)) {
    const message = error instanceof Error ? error.message : String(error);
    return { check, area, grade: 'fail', message };
  }
  const { category, code, message, advice } = error.facts;
  const fix = advice === undefined ? {} : { fix: advice };
  return { check, area: AREAS[category] ?? area, grade: 'fail', message, ...fix, facts: { code } };
}
