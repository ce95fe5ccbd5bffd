/** How a localization in stages ends: results in every form of stdout, and the command that goes on. */
import { stat } from 'node:fs/promises';
import type { ItemFile, ItemState } from '../batch/item.ts';
import { roundCredits } from '../batch/plan/dry-run.ts';
import type { RunOutcome } from '../batch/run/batch.ts';
import { summarizeOutcomes } from '../batch/run/outcome.ts';
import { goOnCommand, sameCommand } from '../context/printed-command.ts';
import { summaryLine } from '../workflow/batch/event-lines.ts';
import { createBatchView } from '../workflow/batch/view.ts';
import { EMBEDDED_STOPS, openCommand } from '../workflow/jobs/continuation.ts';
import { exitCodeOf, type Outcome, printOutcomes, toOutcome } from '../workflow/jobs/job-outcomes.ts';
import { digestFile } from './given-subtitle.ts';
import { going, type Journey, readCosts, type Session } from './session.ts';
import type { StageSubtitle } from './stage-plan.ts';

/** Prints the results. @throws the Failure that the whole ends with */
export async function finishStages(session: Session): Promise<void> {
  const { stopAfter } = session.plan.choices;
  if (stopAfter !== null) await endAtGate(session, stopAfter);
  const outcomes = outcomesOf(session).map(({ outcome }) => outcome);
  const failure = summarizeOutcomes(outcomes);
  await print(session, exitCodeOf(session.context, failure));
  if (stopAfter !== null) tellGate(session);
  if (failure !== null) {
    if (outcomes.some(({ state }) => state.phase === 'left')) tellContinuation(session);
    throw failure;
  }
  if (stopAfter === null) tellFinished(session);
}

/** The subtitles are the results of a run that ends at a gate. */
async function endAtGate(session: Session, stopAfter: 'recognize' | 'translate'): Promise<void> {
  const { context } = session;
  const due = going(session);
  const view = await createBatchView(context, { items: due.map(({ wish }) => wish.item) });
  try {
    for (const journey of due) {
      const subtitle = stopAfter === 'recognize' ? journey.source : journey.target;
      const files = subtitle === null ? [] : [await fileOf(subtitle)];
      const end: ItemState & { phase: 'done' } = {
        ...{ phase: 'done', jobId: journey.jobId, files, credits: null, before: null },
      };
      journey.end = end;
      view.listener({ type: 'item', item: journey.wish.item, state: end, atMs: context.io.now() });
    }
  } finally {
    view.close();
  }
}

async function fileOf({ path }: StageSubtitle): Promise<ItemFile> {
  const bytes = (await stat(path).catch(() => null))?.size ?? null;
  return { asset: 'subtitle', path, bytes, sha256: await digestFile(path) };
}

function outcomeOf({ wish, end, jobId }: Journey): RunOutcome {
  const state = end ?? { phase: 'left', jobId, because: 'interrupted' };
  return { item: wish.item, state, job: null };
}

/** All outcomes in the order of the inputs. @returns `keys` of the jobs that each has cost; none for an unusable file */
function outcomesOf({ journeys, unusable, plan }: Session): readonly Ended[] {
  const order = new Map(plan.order.map((key, position) => [key, position]));
  const placeOf = ({ outcome: { item } }: Ended) => order.get(item.key) ?? 0;
  return [
    ...journeys.map((journey): Ended => ({ outcome: outcomeOf(journey), keys: journey.keys })),
    ...unusable.map((outcome): Ended => ({ outcome, keys: [] })),
  ].toSorted((left, right) => placeOf(left) - placeOf(right));
}

interface Ended {
  readonly outcome: RunOutcome;
  readonly keys: readonly string[];
}

/** One result for each video and language; what it has cost is that of all its stages. */
async function print(session: Session, exitCode: number): Promise<void> {
  const { context, plan } = session;
  const costs = await readCosts(plan.delivery.folder, context.io.now());
  const ended = outcomesOf(session);
  const outcomes = ended.map(({ outcome }) => outcome);
  const told = outcomes.map(
    (outcome, position): Outcome => withCosts(toOutcome(outcome, undefined), position),
  );

  function withCosts(outcome: Outcome, position: number): Outcome {
    if (outcome.known === undefined) return outcome;
    // What languages share is counted with the first of them, so that the sum is right.
    const before = new Set(ended.slice(0, position).flatMap(({ keys }) => keys));
    const own = (ended[position]?.keys ?? []).filter((key) => costs.has(key) && !before.has(key));
    const isKnown = own.length > 0 && own.every((key) => costs.get(key) !== null);
    const credits = isKnown ? roundCredits(own.reduce((sum, key) => sum + (costs.get(key) ?? 0), 0)) : null;
    return { ...outcome, known: { ...outcome.known, charged_credits: credits } };
  }

  if (context.output !== 'ndjson') {
    await printOutcomes(context, told);
    return;
  }
  const charged = told.reduce((sum, { known }) => sum + (known?.charged_credits ?? 0), 0);
  const unknown = [...costs.values()].filter((credits) => credits === null).length;
  const line = summaryLine(outcomes, { reserved: 0, charged: roundCredits(charged), unknown }, exitCode);
  context.print(JSON.stringify(line));
}

function tellGate({ context, journeys }: Session): void {
  const { note } = context.terminal;
  const files = new Set(
    journeys.flatMap(({ source, target }) => [source?.label ?? [], target?.label ?? []].flat()),
  );
  if (files.size === 0) return;
  note('');
  note(`Look over:  ${[...files].join(', ')}`);
  note(`Continue:   ${goOnCommand(context)}`);
}

/** For people only, so not in the forms for programs. */
function tellFinished({ context, journeys }: Session): void {
  const [first] = journeys.filter(({ end }) => end?.phase === 'done');
  if (context.output !== 'table' || first === undefined) return;
  const { note } = context.terminal;
  note('');
  note(`Play it:    ${openCommand(context, first.wish.path)}`);
  if (first.target === null) return;
  note(`Change it:  edit ${first.target.label}, then ${sameCommand(context)}`);
}

/** Says how an interrupted run stands, and how to go on. */
export async function tellInterrupted(session: Session): Promise<void> {
  const { context, journeys, unusable } = session;
  await print(session, exitCodeOf(context, null));
  const done = journeys.filter(({ end }) => end?.phase === 'done').length;
  const total = journeys.length + unusable.length;
  context.terminal.note(
    `Stopped: ${done} of ${total} done. Running jobs and downloaded results are kept; nothing is lost.`,
  );
  tellContinuation(session);
}

function tellContinuation({ context, connected }: Session): void {
  const { note } = context.terminal;
  if (connected !== null && connected.capabilities !== null) note(EMBEDDED_STOPS);
  note('Continue with:');
  note(`  ${sameCommand(context)}`);
}
