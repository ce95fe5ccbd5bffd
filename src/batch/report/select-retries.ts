/** Selects the items of a batch to run again. Pure. */

import { NOT_USABLE } from '../plan/input.ts';
import { type BatchFacts, FAILED_STATES } from './batch-facts.ts';
import type { BatchCommand } from './command-record.ts';
import type { ItemReport, ReportState } from './item-report.ts';

export interface Retries {
  /** Items to run again, grouped by command. */
  readonly runs: readonly RetryRun[];
  /** Failed permanently; not run again without `all`. */
  readonly hopeless: readonly ItemReport[];
  /** Failed items whose command is unknown because records are lost. */
  readonly orphans: readonly ItemReport[];
}

export interface RetryRun {
  readonly command: BatchCommand;
  readonly items: readonly ItemReport[];
}

/** Refusals that do not concern the request: the user may add credits, or a new month may begin. */
const SHORT_OF_CREDITS = ['INSUFFICIENT_CREDITS', 'CREDIT_QUOTA_EXCEEDED'];

/** An earlier retry may have been killed after it sent these requests. Continuing them is not charged again. */
const BEGUN: readonly ReportState[] = ['unanswered', 'running', 'undelivered'];

/**
 * Items that failed, and items whose request was sent and whose result is not here.
 * @param all also those that failed permanently, were cancelled, or whose paid result has expired
 */
export function selectRetries(
  { items, commands }: Pick<BatchFacts, 'items' | 'commands'>,
  all: boolean,
): Retries {
  const failed = items.filter(({ state }) => FAILED_STATES.some((each) => each === state));
  const isChosen = (item: ItemReport) =>
    BEGUN.includes(item.state) || (failed.includes(item) && (all || mayHelp(item)));
  const chosen = items.filter(isChosen);
  const owners = new Map(chosen.map((item) => [item, ownerOf(item, commands)] as const));
  const runs = commands.flatMap((command): RetryRun[] => {
    const own = chosen.filter((item) => owners.get(item) === command);
    return own.length === 0 ? [] : [{ command, items: own }];
  });
  return {
    runs,
    hopeless: failed.filter((item) => !chosen.includes(item)),
    orphans: chosen.filter((item) => owners.get(item) === null),
  };
}

/** The retries of several folders. */
export function combineRetries(all: readonly Retries[]): Retries {
  return {
    runs: all.flatMap(({ runs }) => runs),
    hopeless: all.flatMap(({ hopeless }) => hopeless),
    orphans: all.flatMap(({ orphans }) => orphans),
  };
}

/** Includes files that were not usable: checking them again is free. */
function mayHelp({ error }: ItemReport): boolean {
  return error !== null && (error.retryable || [...SHORT_OF_CREDITS, NOT_USABLE].includes(error.code));
}

/** The last of several commands, since its options are the most recent. */
function ownerOf({ key }: ItemReport, commands: readonly BatchCommand[]): BatchCommand | null {
  const own = commands.filter(({ items }) => items.includes(key));
  return own.toSorted((left, right) => Date.parse(left.at) - Date.parse(right.at)).at(-1) ?? null;
}
