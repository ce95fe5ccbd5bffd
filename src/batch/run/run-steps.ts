/**
 * Makes the result of an item by its recipe: finds the steps that are due and ready, carries them out, and asks the recipe again
 * with what they have made. Each job is resumed by itself, from its own records.
 */
import { Failure } from '../../base/failure.ts';
import type { BatchItem, BatchOutcome } from '../item.ts';
import { decideItems } from '../plan/decide-items.ts';
import type { Decision } from '../plan/decision.ts';
import { createItemFacts } from '../records/item-facts.ts';
import { newestAttempt } from '../records/item-key.ts';
import type { RunOutcome } from './batch.ts';
import { carryOut, madeOf, type Started, type StepEnd } from './carry-out.ts';
import { checkTranslation } from './check-translation.ts';
import { choicesOf } from './open-batch.ts';
import { mayPay } from './rebuild.ts';
import type { Run } from './run.ts';
import { type JobGroup, outcomeOf, runItem, WITHOUT_USE } from './run-item.ts';
import {
  type Bench,
  type JobResult,
  type JobStep,
  jobsOf,
  type Known,
  type Made,
  type Recipe,
  type Step,
  stepsOf,
  type WorkStep,
} from './step.ts';

type FinalState = RunOutcome['state'];

interface ItemBench extends Bench {
  /** --fresh: jobs of earlier runs do not count. */
  readonly fresh: boolean;
  readonly ends: Map<string, StepEnd>;
  /** The steps at the last look. */
  last: WorkStep<Made> | null;
}

/** @param order of the item in the batch  @throws only internal errors */
export async function runSteps(
  run: Run,
  item: BatchItem,
  order: number,
  recipe: Recipe,
  fresh: boolean,
): Promise<RunOutcome> {
  const cleanUps: (() => void)[] = [];
  const atEnd = (cleanUp: () => void) => void cleanUps.push(cleanUp);
  const making: ItemBench = { run, item, order, atEnd, fresh, ends: new Map(), last: null };
  let state: FinalState;
  try {
    state = await makeAll(making, recipe);
    if (state.phase === 'done') state = await checkTranslation(run, item, state);
  } catch (error) {
    state = outcomeOf(run, jobIds(making)[0] ?? null, error);
  } finally {
    for (const cleanUp of cleanUps) cleanUp();
  }
  run.tell(item, state);
  return { item, state, job: null, partJobs: jobIds(making) };
}

/** The end of the result step; otherwise why it cannot be made. @throws what a step has thrown */
async function makeAll(making: ItemBench, recipe: Recipe): Promise<FinalState> {
  const look = (made: (id: string) => unknown) => {
    making.last = recipe(knownFrom(made));
    return making.last;
  };
  const result = await carryOut<Step>(making.ends, look, (ready) => start(making, ready));
  const ends = stepsOf(result).flatMap(({ id }) => making.ends.get(id) ?? []);
  const outcomes = ends.flatMap((end) => (end.type === 'unfinished' ? [end.outcome] : []));
  const unfinished = unfinishedOf(outcomes, jobIds(making)[0] ?? null);
  // The result step is among them.
  return unfinished ?? ((making.ends.get(result.id) as StepEnd & { type: 'made' }).value as Made);
}

function knownFrom(made: (id: string) => unknown): Known {
  return {
    // `runJob` has put it there.
    result: ({ id }) => made(id) as JobResult | undefined,
    // The step with this id has made it.
    value: <T>({ id }: WorkStep<T>) => made(id) as T | undefined,
  };
}

function start(making: ItemBench, ready: readonly Step[]): readonly Started<Step>[] {
  const works = ready.flatMap((step): Started<Step>[] =>
    step.does === 'job' ? [] : [[step, step.make(making).then(madeOf)]],
  );
  const jobs = ready.filter((step) => step.does === 'job');
  const groups = Map.groupBy(jobs, ({ id, group = id }) => group);
  return [...works, ...[...groups.values()].flatMap((together) => startJobs(making, together))];
}

/** Starts jobs that are paid together. */
function startJobs(making: ItemBench, steps: readonly JobStep[]): readonly Started<Step>[] {
  const group: JobGroup = { hasFailed: false };
  const decided = decideJobs(making, steps);
  return steps.map((step, place) => [
    step,
    decided.then((decisions) => runJob(making, step, decisions[place] ?? NEW, group)),
  ]);
}

const NEW: Decision = { step: 'new', after: null };

async function runJob(
  { run, order }: ItemBench,
  { part, group: name, numbers }: JobStep,
  decision: Decision,
  group: JobGroup,
): Promise<StepEnd> {
  const { number = 1, count = 1 } = part.part ?? {};
  const use = { group: name === undefined ? null : group, numbers };
  // Fractions keep the parts in order and between the items before and after theirs.
  const outcome = await runItem(run, part, order + (number - 1) / count, decision, use);
  const { state } = outcome;
  if (state.phase === 'failed') group.hasFailed = true;
  if (part.input.type === 'file') part.input.made?.use();
  if (state.phase !== 'done') return { type: 'unfinished', outcome };
  return madeOf({ jobId: state.jobId ?? '', files: state.files } satisfies JobResult);
}

/**
 * Decides for each job by its own records, after looking for jobs that the journal lacks. Its key names what it is made of, so
 * changes need no check.
 * @throws Failure; Stopped if all of them cost too much, since some alone are useless
 */
async function decideJobs(making: ItemBench, steps: readonly JobStep[]): Promise<readonly Decision[]> {
  const { run } = making;
  const parts = steps.map(({ part }) => part);
  await recordFirstFacts(making, parts);
  const found = await decide(making, parts);
  const unpaid = parts.filter((part, place) => mayPay(part, found[place] ?? NEW));
  const decisions = (await run.rebuild.takeUp(unpaid)) === 0 ? found : await decide(making, parts);
  const due = parts.filter((_, place) => decisions[place]?.step === 'new').map(({ units }) => units);
  const unit = due.find((units) => units !== null)?.unit;
  const quantity = due.reduce((sum, units) => sum + (units?.quantity ?? 0), 0);
  if (parts.length > 1 && unit !== undefined && !run.canAfford(making.item.kind, { unit, quantity })) {
    run.stopping.stop('max-credits');
    run.stopping.launching.throwIfAborted();
  }
  return decisions;
}

/**
 * Records the facts of an item before its first part is sent. Those of a changed source are recorded with its result: earlier, the
 * result of the old source would pass for its own.
 */
async function recordFirstFacts({ run: { journal }, item }: ItemBench, [first]: readonly BatchItem[]) {
  if (newestAttempt(item.key, journal.attempts) !== null) return;
  await journal.add(createItemFacts(item, first?.part?.sha256 ?? null));
}

async function decide({ run, fresh }: ItemBench, parts: readonly BatchItem[]): Promise<readonly Decision[]> {
  const { options, signal, runtime } = run.batch;
  const recorded = { attempts: run.journal.attempts, facts: new Map() };
  const own = { ...options, fresh, skipDone: false };
  const choices = choicesOf(own, { existing: 'replace' }, runtime.now(), signal);
  return (await decideItems(parts, recorded, choices)).decisions;
}

/** Known ids of the jobs, in the order of the steps. */
function jobIds({ last, ends }: ItemBench): string[] {
  const jobs = last === null ? [] : jobsOf<WorkStep<unknown>>(last);
  return jobs.flatMap(({ id }) => {
    const end = ends.get(id);
    if (end?.type === 'unfinished') return end.outcome.state.jobId ?? [];
    // `runJob` has put it there.
    return end?.type === 'made' ? (end.value as JobResult).jobId : [];
  });
}

/** The outcome of the item by those of its jobs without a result; null if there are none. */
function unfinishedOf(outcomes: readonly BatchOutcome[], jobId: string | null): FinalState | null {
  const failed = outcomes.flatMap(({ item, state }) =>
    state.phase === 'failed' ? [{ item, failure: state.failure, jobId: state.jobId }] : [],
  );
  const cause = failed.find(({ failure }) => failure.facts.code !== WITHOUT_USE) ?? failed[0];
  if (cause !== undefined) return { phase: 'failed', jobId: cause.jobId, failure: ofPart(cause) };
  const left = outcomes.flatMap(({ state }) => (state.phase === 'left' ? [state.because] : []))[0];
  return left === undefined ? null : { phase: 'left', jobId, because: left };
}

/** The failure of an item because of a part, which it names if there are others. */
function ofPart({ item, failure }: { readonly item: BatchItem; readonly failure: Failure }): Failure {
  const { number, count, speaker } = item.part ?? {};
  if (count === 1 && speaker === undefined) return failure;
  const whose = speaker === undefined ? '' : ` (${speaker ?? 'everyone else'})`;
  const message = `part ${number} of ${count}${whose}: ${failure.message}`;
  return new Failure({ ...failure.facts, message }, { cause: failure });
}
