/** The end of a localization in stages: prints the results, and the command that continues. */
import { roundCredits } from '../../batch/plan/dry-run.ts';
import { combineJobs } from '../../batch/report/provenance.ts';
import type { RunOutcome } from '../../batch/run/batch.ts';
import { summarizeFailure } from '../../batch/run/outcome.ts';
import { summaryLine } from '../batch/view.ts';
import { continueCommand, goOnCommand, sameCommand } from '../context/printed-command.ts';
import { EMBEDDED_STOPS, isForPeople, openCommand, tellIdle } from '../jobs/continuation.ts';
import { exitCodeOf, type Outcome, printOutcomes, toOutcome } from '../jobs/job-outcomes.ts';
import { costsOf, readItems, type StagedRun, type TargetState } from './staged-run.ts';

/** Prints the results. @throws the Failure that the command ends with */
export async function finishStages(run: StagedRun): Promise<void> {
  const { context } = run;
  const { stopAfter } = run.plan.choices;
  const outcomes = outcomesOf(run).map(({ outcome }) => outcome);
  const failure = summarizeFailure(outcomes);
  await print(run, exitCodeOf(run.context, failure));
  if (stopAfter !== null) printStop(run);
  if (failure !== null) {
    if (outcomes.some(({ state }) => state.phase === 'left')) printContinuation(run);
    throw failure;
  }
  if (!tellIdle(context, outcomes) && stopAfter === null) printNextSteps(run);
}

function outcomeOf({ target, end, jobId }: TargetState): RunOutcome {
  const state = end ?? { phase: 'left', jobId, because: 'interrupted' };
  return { item: target.item, state, job: null };
}

/** All outcomes in the order of the inputs, with the keys of the items whose jobs they cost. */
function outcomesOf({ states, unusable, plan }: StagedRun): readonly Ended[] {
  const order = new Map(plan.order.map((key, position) => [key, position]));
  const placeOf = ({ outcome: { item } }: Ended) => order.get(item.key) ?? 0;
  return [
    ...states.map((state): Ended => ({ outcome: outcomeOf(state), keys: state.steps.map(({ key }) => key) })),
    ...unusable.map((outcome): Ended => ({ outcome, keys: [] })),
  ].toSorted((left, right) => placeOf(left) - placeOf(right));
}

interface Ended {
  readonly outcome: RunOutcome;
  readonly keys: readonly string[];
}

/** Prints one result for each video and target language, with the cost of all its stages. */
async function print(run: StagedRun, exitCode: number): Promise<void> {
  const { context, plan } = run;
  const items = await readItems(plan.delivery, context.io.now());
  const costs = costsOf(items);
  const provenances = new Map(items.map(({ key, provenance }) => [key, provenance ?? null] as const));
  const ended = outcomesOf(run);
  const outcomes = ended.map(({ outcome }) => outcome);
  const complete = outcomes.map(
    (outcome, position): Outcome =>
      withProvenance(withCosts(toOutcome(outcome, undefined), position), position),
  );

  function withCosts(outcome: Outcome, position: number): Outcome {
    if (outcome.known === undefined) return outcome;
    // Jobs that targets share are counted with the first of them, so that the sum is right.
    const before = new Set(ended.slice(0, position).flatMap(({ keys }) => keys));
    const own = (ended[position]?.keys ?? []).filter((key) => costs.has(key) && !before.has(key));
    const isKnown = own.length > 0 && own.every((key) => costs.get(key) !== null);
    const credits = isKnown ? roundCredits(own.reduce((sum, key) => sum + (costs.get(key) ?? 0), 0)) : null;
    return { ...outcome, known: { ...outcome.known, charged_credits: credits } };
  }

  function withProvenance(outcome: Outcome, position: number): Outcome {
    const keys = ended[position]?.keys ?? [];
    const jobs = keys.map((key) => provenances.get(key) ?? null);
    return { ...outcome, provenance: combineJobs([...jobs, outcome.provenance ?? null]) };
  }

  if (context.output !== 'ndjson') {
    await printOutcomes(context, complete);
    return;
  }
  const charged = complete.reduce((sum, { known }) => sum + (known?.charged_credits ?? 0), 0);
  const unknown = [...costs.values()].filter((credits) => credits === null).length;
  const line = summaryLine(outcomes, { reserved: 0, charged: roundCredits(charged), unknown }, exitCode);
  context.print(JSON.stringify(line));
}

function printStop({ context, states }: StagedRun): void {
  const { note } = context.terminal;
  const files = new Set(
    states.flatMap(({ sourceSubtitle, targetSubtitle }) =>
      [sourceSubtitle?.label ?? [], targetSubtitle?.label ?? []].flat(),
    ),
  );
  if (files.size === 0) return;
  note('');
  note(`Review:     ${[...files].join(', ')}`);
  note(`Continue:   ${goOnCommand(context)}`);
}

/** For people, so only with tables. */
function printNextSteps({ context, states, connected }: StagedRun): void {
  const [first] = states.filter(({ end }) => end?.phase === 'done');
  if (!isForPeople(context) || first === undefined) return;
  const { note } = context.terminal;
  note('');
  const isFree = connected !== null && connected.capabilities !== null;
  if (!isFree) note(`Play it:    ${openCommand(context, first.target.path)}`);
  if (first.targetSubtitle === null) return;
  note(`Change it:  edit ${first.targetSubtitle.label}, then ${sameCommand(context)}`);
}

/** Prints the state of an interrupted run and the command that continues it. */
export async function printInterrupted(run: StagedRun): Promise<void> {
  const { context, states, unusable } = run;
  await print(run, exitCodeOf(context, null));
  const done = states.filter(({ end }) => end?.phase === 'done').length;
  const total = states.length + unusable.length;
  context.terminal.note(
    `Stopped: ${done} of ${total} done. Running jobs and downloaded results are kept; nothing is lost.`,
  );
  printContinuation(run);
}

function printContinuation({ context, connected }: StagedRun): void {
  const { note } = context.terminal;
  if (connected !== null && connected.capabilities !== null) note(EMBEDDED_STOPS);
  note('Continue with:');
  note(`  ${continueCommand(context)}`);
}
