/**
 * Responds to the failures of a run: it retries the item, or stops. A stopped run starts nothing new and, for some reasons, also
 * stops waiting. Source: design, "Transport", "Exit codes".
 */

import type { Failure, FailureCategory } from '../../base/failure.ts';
import { BLAMES } from '../../client/transport/error-class.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { describeUnits } from '../../protocol/metering.ts';
import type { Prices } from '../../protocol/prices.ts';
import type { StopReason } from '../item.ts';

/** The reason that signals of a stopped run are aborted with. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`the run was stopped: ${reason}`);
    this.reason = reason;
  }
}

export interface Stopping {
  /** The first reason; null while the run continues. */
  readonly reason: StopReason | null;
  /** Aborted with Stopped when nothing new may start. */
  readonly launching: AbortSignal;
  /** Aborted with Stopped when the run must also stop waiting for jobs. */
  readonly waiting: AbortSignal;
  /** @param why a sentence without its full stop; default: the text for the reason */
  stop(reason: StopReason, why?: string): void;
  /** Stops listening to the signal. */
  end(): void;
}

/**
 * @param signal of the user: aborted, it stops everything
 * @param onStop called with each reason that stops more than those before it
 */
export function createStopping(
  signal: AbortSignal,
  onStop: (reason: StopReason, why: string) => void,
): Stopping {
  const launching = new AbortController();
  const waiting = new AbortController();
  let first: StopReason | null = null;

  function stop(reason: StopReason, why = STOP_WORDS[reason].why): void {
    const isNews = first === null || (endsWaiting(reason) && !waiting.signal.aborted);
    if (!isNews) return;
    first ??= reason;
    launching.abort(new Stopped(reason));
    if (endsWaiting(reason)) waiting.abort(new Stopped(reason));
    onStop(reason, why);
  }

  const interrupt = () => stop('interrupted');
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) interrupt();
  return {
    get reason() {
      return first;
    },
    launching: launching.signal,
    waiting: waiting.signal,
    stop,
    end: () => signal.removeEventListener('abort', interrupt),
  };
}

/** This many consecutive failures mean an outage: each request was tried five times. */
const FAILURES_IN_A_ROW = 3;

interface StopFacts {
  /** See `Run.streak`; this failure included. */
  readonly inARow: number;
  /** Whether the input is at an address. */
  readonly isAddress: boolean;
  /** Jobs of this run that the service works on. */
  readonly inFlight: number;
}

/** Why a failure stops a run immediately, whatever the circumstances; null if it does not. */
export function stopsRun({ facts }: Failure): StopReason | null {
  return facts.blame === undefined ? null : BLAMES[facts.blame].stops;
}

/** Why a failed upload or submission stops the whole run; null if it does not. */
export function stopReasonOf(
  failure: Failure,
  { inARow, inFlight, isAddress }: StopFacts,
): StopReason | null {
  const stops = stopsRun(failure);
  // The reservation for an address that answers slowly may be larger than the cost: others may still be affordable.
  const isEstimate = isAddress && failure.facts.category === 'credits' && inARow < FAILURES_IN_A_ROW;
  if (stops !== null) return isEstimate ? null : stops;
  const isOutage = failure.facts.category === 'temporary' && inARow >= FAILURES_IN_A_ROW && inFlight === 0;
  return isOutage ? 'network' : null;
}

/** Why such a failure stops the run, as a sentence without its full stop. */
export function whyStopped(reason: StopReason, cause: Failure | undefined): string {
  const blame = cause?.facts.blame;
  return (blame === undefined ? null : BLAMES[blame].why) ?? STOP_WORDS[reason].why;
}

const ENDS_WAITING: ReadonlySet<StopReason> = new Set(['authentication', 'interrupted', 'broken', 'timeout']);

/** Whether a reason also ends the waiting for running jobs. */
export function endsWaiting(reason: StopReason): boolean {
  return ENDS_WAITING.has(reason);
}

/** The category that decides the exit code of a stopped run; null if its items decide. */
export const STOP_CATEGORY: Readonly<Record<StopReason, FailureCategory | null>> = {
  'max-credits': 'credits',
  'price-unknown': 'credits',
  'no-credits': 'credits',
  quota: 'credits',
  'max-duration': 'partial',
  authentication: 'configuration',
  network: 'temporary',
  timeout: 'timeout',
  interrupted: null,
  broken: null,
  detached: null,
};

/** @param kinds of the jobs; none if they are not known */
export function advisePrice(kinds: readonly JobKind[]): string {
  return `State ${namePrices(kinds)}, or leave --max-credits out; then run the same command again: only the rest runs.`;
}

/** @param stated prices that were given already: the option has all of them */
export function namePrices(kinds: readonly JobKind[], stated: Prices = {}): string {
  const list = kinds.map((kind) => `${kind}=${stated[kind] ?? 'CREDITS'}`).join(',');
  const [first] = kinds;
  if (first === undefined) return 'the prices of all kinds of jobs with --price KIND=CREDITS,KIND=CREDITS';
  if (kinds.length > 1) return `the price of a unit of each kind with --price ${list}`;
  return `the price of ${describeUnits(1, KINDS[first].unit)} with --price ${list}`;
}

/** Why the run stopped, as a sentence without its full stop, and what to do next. */
export const STOP_WORDS: Readonly<Record<StopReason, { readonly why: string; readonly advice: string }>> = {
  'max-credits': {
    why: 'the next job would cost more than --max-credits allows',
    advice: 'Raise --max-credits, then run the same command again: only the rest runs.',
  },
  'price-unknown': {
    why: 'the service does not report what a job costs, so --max-credits cannot be enforced',
    advice: advisePrice([]),
  },
  'no-credits': {
    why: 'the credits are used up',
    advice: 'Add credits, then run the same command again: only the rest runs.',
  },
  quota: {
    why: 'the monthly quota of the key is used up',
    advice:
      'Raise the quota or wait for the next month, then run the same command again: only the rest runs.',
  },
  'max-duration': {
    why: 'the --max-duration limit was reached',
    advice: 'Run the same command again: only the rest runs.',
  },
  authentication: {
    why: 'the service refuses access',
    advice: 'Check the key with `vloc doctor`, then run the same command again: only the rest runs.',
  },
  network: {
    why: `${FAILURES_IN_A_ROW} requests in a row failed with temporary errors`,
    advice: 'Run the same command again later: only the rest runs.',
  },
  timeout: {
    why: 'the --timeout limit was reached',
    advice: 'The jobs continue: run the same command again to wait for them.',
  },
  interrupted: {
    why: 'the run was interrupted',
    advice: 'Run the same command again to continue.',
  },
  broken: {
    why: 'the run cannot continue',
    advice: 'Fix the problem above, then run the same command again to continue.',
  },
  detached: {
    why: 'the run does not wait for its jobs',
    advice: 'Run the same command again to fetch the results.',
  },
};

interface RetryFacts {
  /** Failures of this item. */
  readonly failures: number;
  /** Temporary failures of all items since the last success. */
  readonly inARow: number;
  /** Items in the batch. */
  readonly items: number;
  readonly isStopped: boolean;
}

/** If other items succeed, the cause is this item. */
const MOST_FAILURES = 5;
/** If the service asks for a longer pause, the item is left to the next run. */
const LONGEST_ASKED_MS = 60_000;

export function afterTemporary({ facts }: Failure, tries: RetryFacts): boolean {
  if (facts.category !== 'temporary' || tries.isStopped) return false;
  // Each call was tried five times already: with a single item, report the failure.
  if (tries.items === 1 || (facts.retryAfterMs ?? 0) > LONGEST_ASKED_MS) return false;
  const isOutage = tries.inARow >= FAILURES_IN_A_ROW;
  return isOutage || tries.failures < MOST_FAILURES;
}

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

/** Milliseconds before the next retry: doubled each time, up to a minute. */
export function pauseOf(failures: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
}
