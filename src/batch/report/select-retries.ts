/** Which items of a batch are run again: pure. */

import { NOT_USABLE } from '../plan/input.ts';
import { type BatchFacts, FAILED_STATES } from './batch-facts.ts';
import type { BatchCommand } from './command-record.ts';
import type { ItemReport } from './item-report.ts';

export interface Retries {
  /** What is run again, by the command that it is run with. */
  readonly runs: readonly RetryRun[];
  /** Failed permanently: not run again without `all`. */
  readonly hopeless: readonly ItemReport[];
  /** Failed, and the record of their command is lost. */
  readonly orphans: readonly ItemReport[];
}

export interface RetryRun {
  readonly command: BatchCommand;
  readonly items: readonly ItemReport[];
}

/** Refusals that say nothing about the request: by the next run credits may have been added, or a new month begun. */
const SHORT_OF_CREDITS = ['INSUFFICIENT_CREDITS', 'CREDIT_QUOTA_EXCEEDED'];

/** @param all also those that failed permanently, were cancelled, or whose paid result has expired */
export function selectRetries(
  { items, commands }: Pick<BatchFacts, 'items' | 'commands'>,
  all: boolean,
): Retries {
  const failed = items.filter(({ state }) => FAILED_STATES.some((each) => each === state));
  const chosen = failed.filter((item) => all || mayHelp(item));
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

/** A file that could not be used may have been fixed: to look at it again costs nothing. */
function mayHelp({ error }: ItemReport): boolean {
  return error !== null && (error.retryable || [...SHORT_OF_CREDITS, NOT_USABLE].includes(error.code));
}

/** Of several commands the one that was run last: its options are those that the user wants now. */
function ownerOf({ key }: ItemReport, commands: readonly BatchCommand[]): BatchCommand | null {
  const own = commands.filter(({ items }) => items.includes(key));
  return own.toSorted((left, right) => Date.parse(left.at) - Date.parse(right.at)).at(-1) ?? null;
}
