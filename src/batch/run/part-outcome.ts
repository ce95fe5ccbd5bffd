/** The outcome of an item whose parts have finished. */
import { Failure } from '../../errors/failure.ts';
import type { RunOutcome } from './batch.ts';
import { readBills } from './bills.ts';
import { type Family, WITHOUT_USE } from './part-family.ts';

/** How the item ends when not all of its parts are done; null when they are. */
export function unfinishedOf(
  outcomes: readonly RunOutcome[],
  jobId: string | null,
): RunOutcome['state'] | null {
  const failed = outcomes.flatMap(({ item, state }) =>
    state.phase === 'failed' ? [{ item, failure: state.failure, jobId: state.jobId }] : [],
  );
  const cause = failed.find(({ failure }) => failure.facts.code !== WITHOUT_USE) ?? failed[0];
  if (cause !== undefined) {
    const { failure, item } = cause;
    const message = `part ${item.part?.number} of ${item.part?.count}: ${failure.message}`;
    const facts = { ...failure.facts, message };
    return { phase: 'failed', jobId: cause.jobId, failure: new Failure(facts, { cause: failure }) };
  }
  const left = outcomes.flatMap(({ state }) => (state.phase === 'left' ? [state.because] : []))[0];
  return left === undefined ? null : { phase: 'left', jobId, because: left };
}

/** What all calls for the parts have cost; null when that of one is not known. */
export function creditsOf({ run, parts }: Family): number | null {
  const { intents, records } = run.journal;
  const bills = readBills(records());
  const charged = parts.items.flatMap(({ key }) => {
    const newest = intents.byItem.get(key)?.at(-1);
    return bills.get(newest ?? '')?.charged_credits ?? [];
  });
  if (charged.length < parts.items.length) return null;
  // Credits are kept in thousandths, in which sums are exact.
  return charged.reduce((sum, credits) => sum + Math.round(credits * 1000), 0) / 1000;
}
