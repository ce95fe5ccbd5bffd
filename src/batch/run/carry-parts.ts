/**
 * An item that is too long for one job: its parts go through the service side by side, each with a call of its own in the
 * journal, and their results become one.
 */
import { Failure, isOfRecords } from '../../errors/failure.ts';
import type { BatchItem } from '../item.ts';
import { decideItems } from '../plan/decide-items.ts';
import type { Decision } from '../plan/decision.ts';
import { createItemFacts } from '../plan/facts.ts';
import { isSplit } from '../plan/input.ts';
import type { RunOutcome } from './batch.ts';
import { carryItem } from './carry-item.ts';
import { hashInput } from './known-uploads.ts';
import { type Family, openFamily, runOfFamily } from './part-family.ts';
import { creditsOf, unfinishedOf } from './part-outcome.ts';
import { joinResults, type PartResult } from './part-results.ts';
import { mayPay } from './rebuild.ts';
import type { Run } from './run.ts';
import { Stopped } from './stopping.ts';

/** Carries an item, in parts if it must be. @param order of the item in the batch  @throws only what is a defect of ours */
export function carry(run: Run, item: BatchItem, order: number, decision: Decision): Promise<RunOutcome> {
  const isBegun = decision.step === 'new' || decision.step === 'continue';
  if (!isBegun || !isSplit(item.input)) return carryItem(run, item, order, decision);
  const { batch } = run;
  // --fresh is for what earlier runs have made, not for parts that this one has begun and comes back to.
  const fresh = batch.options.fresh && decision.step === 'new';
  return carryParts({ ...run, batch: { ...batch, options: { ...batch.options, fresh } } }, item, order);
}

type End = RunOutcome['state'];

async function carryParts(run: Run, item: BatchItem, order: number): Promise<RunOutcome> {
  const jobs: string[] = [];
  let state: End;
  try {
    state = await travel(run, item, order, jobs);
  } catch (error) {
    state = endOf(run, jobs[0] ?? null, error);
  }
  run.tell(item, state);
  return { item, state, job: null, partJobs: jobs };
}

async function travel(run: Run, item: BatchItem, order: number, jobs: string[]): Promise<End> {
  const family = await openFamily(run, item, order);
  try {
    const outcomes = await carryFamily(family);
    jobs.push(...outcomes.flatMap(({ state }) => state.jobId ?? []));
    const unfinished = unfinishedOf(outcomes, jobs[0] ?? null);
    if (unfinished !== null) return unfinished;
    const results = outcomes.flatMap(({ state }): PartResult[] =>
      state.phase === 'done' ? [{ jobId: state.jobId ?? '', files: state.files }] : [],
    );
    const files = await joinResults(run, item, family.parts, results, family.folder);
    const credits = creditsOf(family);
    return { phase: 'done', jobId: jobs[0] ?? null, files, credits, before: null };
  } finally {
    family.source?.release();
  }
}

async function carryFamily(family: Family): Promise<readonly RunOutcome[]> {
  const { run, item, order, parts } = family;
  await run.journal.add(createItemFacts(item, parts.sha256));
  const decisions = await takeUpParts(family, await decideParts(family));
  stopUnaffordable(family, decisions);
  const own = runOfFamily(family);
  // A fraction: the parts keep the place of their item among the others, and their order.
  const outcomes = parts.items.map((part, place) =>
    carryItem(own.run, part, order + place / parts.items.length, decisions[place] ?? NEW).then((outcome) => {
      own.noteEnd(part, outcome);
      return outcome;
    }),
  );
  await Promise.allSettled(outcomes);
  return Promise.all(outcomes);
}

/** Some parts without the others are of no use: none is begun when all of them are too much. @throws Stopped */
function stopUnaffordable({ run, item, parts }: Family, decisions: readonly Decision[]): void {
  const due = parts.items.filter((_, place) => decisions[place]?.step === 'new');
  const [first] = due.flatMap(({ units }) => units ?? []);
  if (first === undefined) return;
  const quantity = due.reduce((sum, { units }) => sum + (units?.quantity ?? 0), 0);
  if (run.canAfford(item.kind, { unit: first.unit, quantity })) return;
  run.stopping.stop('max-credits');
  run.stopping.launching.throwIfAborted();
}

/** Each part by its own past. Its name says what it was made from, so there is no change to look for. */
function decideParts({ run, parts }: Family): Promise<readonly Decision[]> {
  const { options, signal, runtime } = run.batch;
  const recorded = { intents: run.journal.intents, facts: new Map() };
  return decideItems(parts.items, recorded, {
    now: runtime.now(),
    fresh: options.fresh,
    retryFailed: options.retryFailed,
    replace: true,
    hashFile: (path) => hashInput(path, signal),
  });
}

/** The decisions once jobs of parts that the journal lacks were looked for. */
async function takeUpParts(family: Family, decisions: readonly Decision[]): Promise<readonly Decision[]> {
  const { run, parts, source } = family;
  const unpaid = parts.items.filter((part, place) => mayPay(part, decisions[place] ?? NEW));
  // The files of parts that were sent are gone; their content is known all the same.
  const contentOf = async ({ input, part }: BatchItem) =>
    input.type === 'lines' ? input.sha256 : (source?.files[(part?.number ?? 1) - 1]?.sha256 ?? null);
  return (await run.rebuild.takeUp(unpaid, contentOf)) === 0 ? decisions : decideParts(family);
}

const NEW: Decision = { step: 'new', after: null };

/** What an item ends as when something was thrown on its way. */
function endOf(run: Run, jobId: string | null, error: unknown): End {
  if (run.batch.signal.aborted) return { phase: 'left', jobId, because: 'interrupted' };
  if (error instanceof Stopped) return { phase: 'left', jobId, because: error.reason };
  if (!(error instanceof Failure) || isOfRecords(error)) throw error;
  return { phase: 'failed', jobId, failure: error };
}
