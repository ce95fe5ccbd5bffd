/**
 * Runs a job command from its operands to its results: `runJobs` is the one place to start reading. Localizations in
 * stages have a way of their own, `stages/run-stages.ts`, and --watch has `watch-jobs.ts`; both run their items through the
 * same records, decisions and batch.
 */
import { hostname } from 'node:os';
import { EXIT_CODES } from '../../base/exit-codes.ts';
import { isCopied } from '../../batch/input.ts';
import { namedPaths } from '../../batch/inputs/candidate.ts';
import type { Delivery } from '../../batch/inputs/delivery.ts';
import type { BatchPlan } from '../../batch/plan/batch-plan.ts';
import { decideBatch } from '../../batch/plan/plan.ts';
import { refusedOutcomes } from '../../batch/plan/refusal.ts';
import type { BatchRecord } from '../../batch/records/batch-records.ts';
import { type BatchCommand, createBatchCommand, itemsOfBefore } from '../../batch/records/command-record.ts';
import { createUnusableRecord, createUsableRecord } from '../../batch/records/unusable-inputs.ts';
import type { Batch, RunOptions, RunOutcome, Task } from '../../batch/run/batch.ts';
import { checkTranslation } from '../../batch/run/check-translation.ts';
import { choicesOf, type OpenBatch, openBatch } from '../../batch/run/open-batch.ts';
import { doneBefore, summarizeFailure } from '../../batch/run/outcome.ts';
import type { BatchMemory } from '../../batch/run/recall.ts';
import { STOP_WORDS } from '../../batch/run/stopping.ts';
import { runBatch } from '../../batch/run-batch.ts';
import type { Terms } from '../../batch/terms.ts';
import { SYSTEM_RUNTIME } from '../../client/runtime.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { type Connection, connectService } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import { openLocalRecords } from '../context/local-records.ts';
import { createBatchView } from '../screen/view.ts';
import { noteContinuation, noteIdle, noteKeptJobs, noteNextSteps, noteStop } from './continuation.ts';
import type { JobOptions } from './job-options.ts';
import { exitCodeOf, printOutcomes, toOutcome } from './job-outcomes.ts';
import { checkSupport, collectJobs, noteShard } from './plan-jobs.ts';
import { createPreparation } from './preparation.ts';
import { readDubOptions, requireOneDub } from './redub.ts';
import { noteSamples, reportSamples } from './sample.ts';
import { chargedContext, limitRun } from './spending.ts';
import { checkOneResult } from './stdout-result.ts';
import { decideWithMemory, noteRemembered, openMemoryFor } from './use-memory.ts';

interface RunMode {
  /** Keys of items, where a command that was run before is repeated for some of them; null for all. */
  readonly only?: ReadonlySet<string> | null;
  /** The only result goes to stdout. */
  readonly toStdout?: boolean;
}

/** Runs the command of a kind; returns the exit code 0, or throws the Failure that the run ends with. */
export async function runJobs(
  kind: JobKind,
  context: Context,
  operands: readonly string[],
  options: JobOptions,
  { only = null, toStdout = false }: RunMode = {},
): Promise<number> {
  context.io.keepHeapSmall?.();
  const { io, signal } = context;
  // A retry makes expired results again.
  const runOptions = readDubOptions(kind, options, context, only !== null);
  // Files, probes, names, conflicts. Nothing is locked, written or sent.
  const collected = await collectJobs(kind, operands, options, context, only);
  requireOneDub(runOptions, collected.all.length);
  if (toStdout) checkOneResult(kind, collected.items.length);
  const delivery = { ...collected.delivery, toStdout };
  // The lock and the records.
  const batch = await openBatch(delivery);
  try {
    // Done, continue, new or refused.
    const choices = choicesOf(runOptions, delivery, io.now(), signal);
    const plan = await decideWithMemory(kind, options, context, { delivery, writes: true }, (remembered) =>
      decideBatch({ ...collected, delivery }, batch.recorded(), { ...choices, ...remembered }, collected),
    );
    for (const note of [...collected.notes, ...plan.notes]) context.terminal.note(note);
    noteSkipped(context, plan);
    if (only === null) noteShard(context, collected);
    const inputFiles = namedPaths(io.cwd, operands, options);
    const keys = plan.planned.map(({ item }) => item.key);
    // A partial re-run keeps the record of the full command.
    const preface = only === null ? [commandRecord(kind, context, operands, options, keys)] : [];
    const known = outcomesOf(plan);
    // Without anything to send, neither key nor network is needed.
    const { terms } = collected;
    const checks = { terms, masksTerms: options.maskTerms };
    if (known !== null) return await endHere(context, plan, { ...batch, ...checks }, preface, known);
    const prepared = { kind, context, runOptions, delivery, inputFiles, batch, terms };
    return await withService(prepared, options, async (run) => {
      const { connection, memory } = run;
      const planned = await checkSupport(plan.planned, connection.capabilities, context);
      // Without a job to send, none may be sent instead of one that fails.
      const kinds = planned.some(sendsJobs) ? [kind] : [];
      const limited = await limitRun(kinds, runOptions, connection, context);
      // Upload, submit, wait and deliver, as many items at a time as the limits allow.
      const charged = { ...run, runOptions: limited, context: chargedContext(context, connection) };
      const outcomes = await runPlan(charged, { ...plan, planned }, preface);
      noteRemembered(context, memory);
      await summarize(context, plan, outcomes, connection.isFree);
    });
  } finally {
    await batch.close();
  }
}

/**
 * Connects to the service and opens the memory for a run, and closes both after it.
 * @returns the exit code 0
 * @throws what `carryOut` throws; the reason of the signal, once that is aborted
 */
export async function withService(
  prepared: Omit<JobRun, 'connection' | 'memory' | 'masksTerms'>,
  options: JobOptions,
  carryOut: (run: JobRun) => Promise<void>,
): Promise<number> {
  const { kind, context, delivery } = prepared;
  const connection = await connectService(context);
  let memory: BatchMemory | undefined;
  try {
    memory = await openMemoryFor(kind, options, context, { delivery, connection, writes: true });
    await carryOut({ ...prepared, connection, masksTerms: options.maskTerms, memory });
    return EXIT_CODES.done.code;
  } catch (error) {
    throw context.signal.aborted ? context.signal.reason : error;
  } finally {
    await memory?.store.close();
    await connection.close();
  }
}

function sendsJobs({ item, decision }: Task): boolean {
  if (decision.step !== 'continue') return decision.step === 'new' && !isCopied(item.input);
  return decision.next.step === 'submit' || decision.next.step === 'parts';
}

function noteSkipped({ terminal, io }: Context, { planned }: BatchPlan): void {
  for (const { decision, paths } of planned) {
    if (decision.step !== 'done' || decision.before !== 'exists') continue;
    for (const path of paths ?? []) terminal.note(`Skipped, it exists: ${showPath(path, io.cwd)}`);
  }
  const recorded = planned.filter(
    ({ decision }) => decision.step === 'done' && decision.before === 'recorded',
  );
  if (recorded.length === 0) return;
  const what = recorded.length === 1 ? '1 item was' : `${recorded.length} items were`;
  terminal.note(`${what} downloaded by an earlier run; counted as done (--skip-done).`);
}

/** The outcomes of a plan that needs no service; null for other plans. */
function outcomesOf({ planned }: BatchPlan): readonly RunOutcome[] | null {
  const outcomes = planned.flatMap(({ item, decision }): RunOutcome[] => {
    if (decision.step === 'done') return [{ item, state: doneBefore(item, decision), job: null }];
    return refusedOutcomes([{ item, decision }]).map((outcome) => ({ ...outcome, job: null }));
  });
  return outcomes.length === planned.length ? outcomes : null;
}

/** Ends a command without the service. */
async function endHere(
  context: Context,
  plan: BatchPlan,
  batch: OpenBatch & Pick<JobRun, 'terms' | 'masksTerms'>,
  preface: readonly BatchRecord[],
  before: readonly RunOutcome[],
): Promise<number> {
  await recordInputs(plan, batch, preface, context.io.now());
  const { terms, masksTerms } = batch;
  const checks = { terms, masksTerms, warn: context.terminal.warn, delivery: plan.delivery };
  const outcomes: RunOutcome[] = [];
  for (const outcome of before) {
    const { item, state } = outcome;
    const isDone = state.phase === 'done';
    const checked = isDone
      ? await checkTranslation({ batch: checks, journal: batch.journal }, item, state)
      : state;
    outcomes.push({ ...outcome, state: checked });
  }
  const failure = summarizeFailure(outcomes);
  const view = await createBatchView(context, { items: outcomes.map(({ item }) => item) });
  const atMs = context.io.now();
  for (const { item, state } of outcomes) view.listener({ type: 'item', item, state, atMs });
  printSampleLine(context, outcomes);
  view.summarize(outcomes, exitCodeOf(context, failure));
  view.close();
  await printEnd(context, plan, outcomes, true);
  if (failure !== null) throw failure;
  return EXIT_CODES.done.code;
}

/** Records which files cannot be used, and which were fixed, for the commands that read it. @throws Failure (`temporary`, `disk`) */
async function recordInputs(
  { planned, delivery, renamed }: BatchPlan,
  { journal }: OpenBatch,
  preface: readonly BatchRecord[],
  nowMs: number,
): Promise<void> {
  const before = journal.checked.unusable;
  const unusable = planned.flatMap(({ item, decision }) =>
    decision.step === 'unusable' ? [createUnusableRecord(item, decision.detail, nowMs)] : [],
  );
  const fixed = planned.flatMap(({ item, decision }) =>
    decision.step !== 'unusable' && before.has(item.key) ? [createUsableRecord(item.key)] : [],
  );
  const keys = new Set(planned.map(({ item }) => item.key));
  const isAnyGone = preface.some(
    (record) =>
      record.type === 'batch_command' &&
      itemsOfBefore(journal.commands, record).some((key) => !keys.has(key)),
  );
  // The record of a shard shows that it has run, even if it has nothing to do.
  const isCommand = unusable.length > 0 || isAnyGone || delivery.shard !== undefined;
  const records = [...(isCommand ? preface : []), ...renamed, ...unusable, ...fixed];
  if (records.length > 0) await journal.add(...records);
}

/** Prints the outcomes; in `ndjson` the view has done that. */
async function printEnd(
  context: Context,
  plan: BatchPlan,
  outcomes: readonly RunOutcome[],
  isFree: boolean,
): Promise<void> {
  const ended = outcomes.map((outcome, position) => toOutcome(outcome, plan.planned[position]));
  const sample = reportSamples(context, outcomes);
  if (context.output !== 'ndjson')
    await printOutcomes(context, ended, undefined, sample === null ? {} : { sample });
  const isIdle = plan.delivery.toStdout !== true && noteIdle(context, outcomes);
  if (!isIdle && outcomes.every(({ state }) => state.phase === 'done')) {
    const copies = outcomes.map(({ item }) => isCopied(item.input));
    const made = ended.filter((_, at) => !copies[at]);
    noteNextSteps(context, made, isFree);
  }
  if (sample !== null) noteSamples(context, sample, isFree);
}

/** In `ndjson`, before the summary. */
function printSampleLine(context: Context, outcomes: readonly RunOutcome[]): void {
  const sample = context.output === 'ndjson' ? reportSamples(context, outcomes) : null;
  if (sample !== null) context.print(JSON.stringify({ type: 'sample', ...sample }));
}

async function runPlan(
  run: JobRun,
  plan: BatchPlan,
  preface: readonly BatchRecord[],
): Promise<readonly RunOutcome[]> {
  const { context, kind, runOptions } = run;
  let isCostKnown = true;
  const view = await createBatchView(context, { items: plan.planned.map(({ item }) => item) });
  try {
    const outcomes = await runBatch({
      ...batchOf(run),
      tasks: plan.planned,
      preface: [...preface, ...plan.renamed],
      listen: (event) => {
        if (event.type === 'credits') isCostKnown = event.ofThisRun !== null;
        view.listener(event);
      },
    });
    // A run that stopped has said so.
    const isStopped = outcomes.some(({ state }) => state.phase === 'left');
    if (runOptions.maxCredits !== null && !isCostKnown && !isStopped)
      context.terminal.warn(`${STOP_WORDS['price-unknown'].why}; ${howToState(context, kind)}`);
    printSampleLine(context, outcomes);
    view.summarize(outcomes, exitCodeOf(context, summarizeFailure(outcomes)));
    return outcomes;
  } finally {
    view.close();
  }
}

/** Agents have no flags, and must not state prices: only the user can do that. */
function howToState({ spending }: Context, kind: JobKind): string {
  return spending === undefined
    ? `state the price with --price ${kind}=CREDITS`
    : `only the user can state the price, by setting VLOC_PRICE to ${kind}=CREDITS`;
}

/** Prints how the run ended, and how to go on. @throws the Failure that the run ends with; the reason of the signal */
async function summarize(
  context: Context,
  plan: BatchPlan,
  outcomes: readonly RunOutcome[],
  isEmbedded: boolean,
): Promise<void> {
  if (context.signal.aborted) {
    noteStop(context, outcomes, plan.delivery, isEmbedded);
    throw context.signal.reason;
  }
  await printEnd(context, plan, outcomes, isEmbedded);
  const isLeft = outcomes.some(({ state }) => state.phase === 'left' && state.jobId !== null);
  if (isLeft) noteContinuation(context, outcomes, plan.delivery, isEmbedded);
  else noteKeptJobs(context, outcomes, plan.delivery);
  const failure = summarizeFailure(outcomes);
  if (failure !== null) throw failure;
}

/** Parameters of a run of jobs of one kind, besides its items. */
export interface JobRun {
  readonly kind: JobKind;
  readonly context: Context;
  readonly runOptions: RunOptions;
  readonly delivery: Delivery;
  readonly connection: Connection;
  /** See `Batch`. */
  readonly inputFiles: readonly string[];
  readonly batch: OpenBatch;
  readonly terms?: Terms | undefined;
  /** See `Batch`. */
  readonly masksTerms?: boolean | undefined;
  readonly memory?: BatchMemory | undefined;
}

/** The batch of a run, without its items. */
export function batchOf(run: JobRun): Omit<Batch, 'tasks' | 'preface' | 'listen'> {
  const {
    kind,
    context,
    runOptions,
    delivery,
    connection,
    inputFiles,
    batch,
    terms,
    masksTerms = false,
    memory,
  } = run;
  const { io, signal, terminal } = context;
  return {
    journal: batch.journal,
    delivery,
    connection,
    inputFiles,
    records: openLocalRecords(connection, io.now),
    options: runOptions,
    runtime: { ...SYSTEM_RUNTIME, ...io.pace?.runtime },
    preparation: createPreparation(io),
    terms,
    masksTerms,
    memory,
    command: kind,
    warn: terminal.warn,
    signal,
  };
}

/**
 * The record of the command for the journal.
 * @param items their keys
 * @param part true for the items of one stage, when the other stages have records of their own
 */
export function commandRecord(
  kind: JobKind,
  { io, commandLine, service }: Context,
  operands: readonly string[],
  options: JobOptions,
  items: readonly string[],
  part?: { readonly partial: true },
): BatchCommand {
  return createBatchCommand({
    at: new Date(io.now()).toISOString(),
    argv: [...commandLine],
    cwd: io.cwd,
    host: hostname(),
    profile: service.profile ?? null,
    kind,
    operands: [...operands],
    options,
    ...part,
    items: [...items],
  });
}
