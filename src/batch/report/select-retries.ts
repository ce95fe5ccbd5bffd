/** Which items of a batch are run again: pure. */
import type { BatchFacts } from './batch-facts.ts';
import type { BatchCommand } from './command-record.ts';
import type { ItemReport } from './item-report.ts';
import { FAILED_STATES } from './report-head.ts';

export interface Retries {
  /** What is run again, by the command that it is run with. */
  readonly runs: readonly RetryRun[];
  /** Failed, and left alone since they would fail again. */
  readonly hopeless: readonly ItemReport[];
  /** Failed, and of no command that the journal knows. */
  readonly orphans: readonly ItemReport[];
}

export interface RetryRun {
  readonly command: BatchCommand;
  readonly items: readonly ItemReport[];
}

/** Refusals that say nothing about the request: whoever runs it again has added credits, or a new month has begun. */
const SHORT_OF_CREDITS = ['INSUFFICIENT_CREDITS', 'CREDIT_QUOTA_EXCEEDED'];

/** @param all those too that would most likely fail again, were cancelled, or have lost their paid result */
export function selectRetries({ items, commands }: BatchFacts, all: boolean): Retries {
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

function mayHelp({ error }: ItemReport): boolean {
  return error !== null && (error.retryable || SHORT_OF_CREDITS.includes(error.code));
}

/** Of several commands the one that was run last: its options are those that the user wants now. */
function ownerOf({ key }: ItemReport, commands: readonly BatchCommand[]): BatchCommand | null {
  const own = commands.filter(({ items }) => items.includes(key));
  return own.toSorted((left, right) => Date.parse(left.at) - Date.parse(right.at)).at(-1) ?? null;
}
