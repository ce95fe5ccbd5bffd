/** What the calls of a session share: the limit of credits, and that paid calls run one after the other. */
import type { Spending } from '../context/context.ts';
import type { Failure } from '../errors/failure.ts';

export interface Session {
  /** Credits of the new jobs of the session. */
  readonly spent: () => number;
  /** Null without a limit. */
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
  /** True if the service does not state what jobs cost: nothing more can be sent within a limit. */
  let isUnknown = false;
  let turn: Promise<unknown> = Promise.resolve();
  const spent = () => before + current;
  const left = () => (maxCredits === null ? null : isUnknown ? 0 : Math.max(0, maxCredits - spent()));
  const spending: Spending = {
    // The run subtracts its own jobs itself.
    left: () => (maxCredits === null ? Number.POSITIVE_INFINITY : isUnknown ? 0 : maxCredits - before),
    count({ ofThisRun, unknown }) {
      current = Math.max(current, ofThisRun);
      isUnknown ||= unknown > 0;
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
 * @param left credits of the session; null without a limit
 */
export function overLimit(failure: Failure, left: number | null): Failure {
  if (failure.facts.code !== 'MAX_CREDITS_REACHED' || left === null) return failure;
  const advice = `This session has ${left} credits left of --max-credits of \`vloc mcp\`. Tell the user; only they can start it with a higher limit.`;
  return failure.with({ advice });
}
