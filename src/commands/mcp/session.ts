/** What the calls of a session share: the limit of credits, and that paid calls run one after the other. */

import type { Failure } from '../../base/failure.ts';
import type { Spending } from '../context/context.ts';

export interface Session {
  /** Credits of the new jobs of the session; null if the service does not report what one of them costs. */
  readonly spent: () => number | null;
  /** Null without a limit, and if it is unknown what was spent. */
  readonly left: () => number | null;
  /**
   * Runs a call that may pay. Only one runs at a time, so that none spends what another has counted on.
   * @throws Failure (`credits`) if nothing is left; the reason of the signal when that is aborted before its turn
   */
  pay<T>(signal: AbortSignal, work: (spending: Spending) => Promise<T>): Promise<T>;
}

/** @param maxCredits null for no limit */
export function createSession(maxCredits: number | null): Session {
  let before = 0;
  let current = 0;
  /** True if the cost of a job is unknown: nothing more can be sent within a limit. */
  let isUnknown = false;
  let turn: Promise<unknown> = Promise.resolve();
  const spent = () => (isUnknown ? null : before + current);
  const left = () => (maxCredits === null || isUnknown ? null : Math.max(0, maxCredits - before - current));
  const spending: Spending = {
    // The run subtracts its own jobs itself.
    left: () => (maxCredits === null ? Number.POSITIVE_INFINITY : isUnknown ? null : maxCredits - before),
    count(ofThisRun) {
      isUnknown ||= ofThisRun === null;
      current = Math.max(current, ofThisRun ?? 0);
    },
  };
  return {
    spent,
    left,
    pay(signal, work) {
      const run = async () => {
        signal.throwIfAborted();
        try {
          return await work(spending);
        } finally {
          before += current;
          current = 0;
        }
      };
      const mine = turn.then(run, run);
      turn = mine;
      return mine;
    },
  };
}

/**
 * The failure of a call that would exceed a limit, with advice for an agent.
 * @param left see `Session`
 */
export function sessionLimitFailure(failure: Failure, left: number | null): Failure {
  const { code, advice: known } = failure.facts;
  // An agent that could state prices could get around the limit.
  if (code === 'PRICE_UNKNOWN' && known?.includes('--price') === true) {
    const advice = `Leave \`max_credits\` out, or ask the user to set VLOC_PRICE to the price of a unit, such as dubbing=2, and to restart \`vloc mcp\`. Then repeat the call: only the rest runs.`;
    return failure.with({ advice });
  }
  if (code !== 'MAX_CREDITS_REACHED' || left === null) return failure;
  const advice = `This session has ${left} credits left of --max-credits of \`vloc mcp\`. Tell the user; only they can start it with a higher limit.`;
  return failure.with({ advice });
}
