/** A job command from operands to results: plan, connect, run the batch, report how it ended. */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { EXIT_CODES } from '../../base/exit-codes.ts';
import { creditsFailure, type Failure } from '../../base/failure.ts';
import type { BatchPlan } from '../../batch/plan/batch-plan.ts';
import { namedPaths } from '../../batch/plan/candidate.ts';
import type { Delivery } from '../../batch/plan/delivery.ts';
import type { LogRecord } from '../../batch/records/record-line.ts';
import { createBatchCommand } from '../../batch/report/command-record.ts';
import { readBatchLog } from '../../batch/report/read-batch.ts';
import {
  createUnusableRecord,
  createUsableRecord,
  foldUnusable,
} from '../../batch/report/unusable-inputs.ts';
import type { Batch, NewCredits, RunOptions, RunOutcome, Task } from '../../batch/run/batch.ts';
import { decisionFailure, doneBefore } from '../../batch/run/decided-outcomes.ts';
import { openBatchJournal } from '../../batch/run/journal.ts';
import { summarizeFailure } from '../../batch/run/outcome.ts';
import { runBatch } from '../../batch/run/run-batch.ts';
import { STOP_WORDS } from '../../batch/run/stopping.ts';
import { SYSTEM_RUNTIME } from '../../client/runtime.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Prices } from '../../protocol/prices.ts';
import { createBatchView } from '../batch/view.ts';
import { type Connection, connect } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import { openLocalRecords } from '../context/local-records.ts';
import { tellContinuation, tellIdle, tellKeptJobs, tellNextSteps, tellStop } from './continuation.ts';
import { COMMAND_OF, type JobOptions, readRunOptions } from './job-options.ts';
import { exitCodeOf, printOutcomes, toOutcome } from './job-outcomes.ts';
import { checkSupport, pickItems, planJobs, tellShare } from './plan-jobs.ts';
import { createPreparation } from './preparation.ts';
import { findPrice, spendableOf } from './show-plan.ts';

interface PlannedRun extends Omit<JobRun, 'connection' | 'runOptions'> {
  readonly plan: BatchPlan;
  readonly only: ReadonlySet<string> | null;
}

type ConnectedRun = PlannedRun & JobRun;

/**
 * Runs the command of a kind; returns the exit code 0, or throws the Failure that the run ends with.
 * @param only keys of items, where a command that was run before is repeated for some of them; null for all
 * @param check may refuse the plan, before anything is sent, or change where its results go
 */
export async function runJobs(
  kind: JobKind,
  context: Context,
  operands: readonly string[],
  options: JobOptions,
  only: ReadonlySet<string> | null = null,
  check: (plan: BatchPlan) => BatchPlan = (plan) => plan,
): Promise<number> {
  context.io.keepHeapSmall?.();
  // A retry makes expired results again.
  const ownLimits = readRunOptions(options, only !== null);
  const whole = await planJobs(kind, operands, options, context, only);
  const plan = check(only === null ? whole : pickItems(whole, only, context));
  for (const note of plan.notes) context.terminal.note(note);
  tellSkipped(context, plan);
  if (only === null) tellShare(context, plan.delivery.shard, plan.planned.length, plan.total);
  const { delivery } = plan;
  const request: PlannedRun = { kind, context, operands, options, delivery, plan, only };
  const known = outcomesOf(plan);
  // Without anything to send, neither key nor network is needed.
  if (known !== null) return endHere(request, known);
  const connection = await connect(context);
  try {
    await checkSupport(plan.planned, connection.capabilities, context);
    const priced = withPrices(ownLimits, connection);
    const newCredits = await limitNewCredits(request, connection, priced.prices);
    const runOptions = { ...priced, newCredits };
    const work: ConnectedRun = {
      ...request,
      context: chargedContext(context, connection),
      runOptions,
      connection,
    };
    await finish(work, await runPlan(work));
    return 0;
  } catch (error) {
    throw context.signal.aborted ? context.signal.reason : error;
  } finally {
    await connection.close();
  }
}

/** The options with the prices that the user states about a remote service. The embedded one reports its own. */
export function withPrices(options: RunOptions, { prices, capabilities }: Connection): RunOptions {
  return capabilities === null ? { ...options, prices: { ...prices, ...options.prices } } : options;
}

/** Without the shared limit if the service is the embedded one, whose credits cost nothing. */
function chargedContext(context: Context, { capabilities }: Connection): Context {
  const { spending: _spending, ...free } = context;
  return capabilities === null ? context : free;
}

/**
 * The limit that this run shares with others, with a price that makes it hold for the first job, too.
 * @throws Failure (`credits`) if a new job could exceed it, because the price is unknown
 */
async function limitNewCredits(
  { kind, context, plan }: PlannedRun,
  connection: Connection,
  stated: Prices = {},
): Promise<NewCredits | undefined> {
  const max = spendingLimit(context, connection);
  if (max === Number.POSITIVE_INFINITY) return undefined;
  // Without a job to send, none may be sent instead of one that fails.
  if (!plan.planned.some(sendsJobs)) return { max: 0, price: null };
  return limitKind(kind, max, connection, stated, context.signal);
}

/** Credits that this run may spend with others; infinite without a limit, null if it is unknown. The embedded service costs nothing. */
export function spendingLimit({ spending }: Context, { capabilities }: Connection): number | null {
  return spending === undefined || capabilities !== null ? Number.POSITIVE_INFINITY : spending.left();
}

/**
 * The limit for jobs of a kind, with its price. @param max see `spendingLimit`
 * @throws Failure (`credits`) if a new job could exceed it, because the price is unknown
 */
export async function limitKind(
  kind: JobKind,
  max: number | null,
  { client, prices }: Connection,
  stated: Prices,
  signal: AbortSignal,
): Promise<NewCredits> {
  if (max === null) {
    const why = 'the service does not report what an earlier job cost, so another could exceed the limit';
    throw unpricedFailure(kind, why);
  }
  const price = stated[kind] ?? prices[kind] ?? (await findPrice(kind, client.credits, signal));
  if (price !== null) return { max, price };
  // The service itself refuses jobs that the account cannot pay.
  if (spendableOf(await client.credits.balance({ signal })) <= max) return { max, price };
  throw unpricedFailure(kind, `the price of ${COMMAND_OF[kind]} is unknown, so a job could exceed the limit`);
}

function unpricedFailure(kind: JobKind, why: string): Failure {
  return creditsFailure(
    'PRICE_UNKNOWN',
    `${why} of credits; nothing was sent`,
    `Ask the user to run \`vloc ${COMMAND_OF[kind]}\` once: its charge shows the price. If it does not, they can state the price of a unit: set VLOC_PRICE to ${kind}=CREDITS. Or use a key whose monthly quota is within the limit.`,
  );
}

function sendsJobs({ decision }: Task): boolean {
  if (decision.step !== 'continue') return decision.step === 'new';
  return decision.next.step === 'submit' || decision.next.step === 'parts';
}

function tellSkipped({ terminal, io }: Context, { planned }: BatchPlan): void {
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
function outcomesOf({ planned, delivery }: BatchPlan): readonly RunOutcome[] | null {
  const outcomes = planned.flatMap(({ item, decision }): RunOutcome[] => {
    if (decision.step === 'done') return [{ item, state: doneBefore(item, decision), job: null }];
    if (decision.step !== 'unusable') return [];
    const failure = decisionFailure(decision, delivery.folder);
    return [{ item, state: { phase: 'failed', jobId: null, failure }, job: null }];
  });
  return outcomes.length === planned.length ? outcomes : null;
}

async function endHere(request: PlannedRun, outcomes: readonly RunOutcome[]): Promise<number> {
  const { context, plan } = request;
  await recordUnusable(request);
  const failure = summarizeFailure(outcomes);
  const view = await createBatchView(context, { items: outcomes.map(({ item }) => item) });
  const atMs = context.io.now();
  for (const { item, state } of outcomes) view.listener({ type: 'item', item, state, atMs });
  view.summarize(outcomes, exitCodeOf(context, failure));
  view.close();
  await printEnd(context, plan, outcomes, true);
  if (failure !== null) throw failure;
  return EXIT_CODES.done.code;
}

/**
 * Records in the journal which files cannot be used, and which were fixed, for the commands that
 * read it. @throws Failure (`temporary`, `disk`)
 */
async function recordUnusable(request: PlannedRun): Promise<void> {
  const { context, plan } = request;
  const now = context.io.now();
  const { delivery } = plan;
  const place = { ...delivery, folder: resolve(context.io.cwd, delivery.folder) };
  const before = foldUnusable((await readBatchLog(place)).records).unusable;
  const unusable = plan.planned.flatMap(({ item, decision }) =>
    decision.step === 'unusable' ? [createUnusableRecord(item, decision.detail, now)] : [],
  );
  const usable = plan.planned.filter(
    ({ item, decision }) => decision.step !== 'unusable' && before.has(item.key),
  );
  // The record of a shard shows that it has run, even if it has nothing to do.
  const isShard = delivery.shard !== undefined;
  if (unusable.length + usable.length === 0 && !isShard) return;
  const preface = unusable.length === 0 && !isShard ? [] : prefaceOf(request);
  const fixed = usable.map(({ item }) => createUsableRecord(item.key));
  const journal = await openBatchJournal(place);
  await journal.add(...preface, ...unusable, ...fixed).finally(() => journal.close());
}

/** A partial re-run keeps the record of the full command. */
function prefaceOf(request: PlannedRun): readonly LogRecord[] {
  const keys = request.plan.planned.map(({ item }) => item.key);
  return request.only === null ? [commandRecord(request, keys)] : [];
}

/** Prints the outcomes; in `ndjson` the view has done that. */
async function printEnd(
  context: Context,
  plan: BatchPlan,
  outcomes: readonly RunOutcome[],
  isFree: boolean,
): Promise<void> {
  const ended = outcomes.map((outcome, position) => toOutcome(outcome, plan.planned[position]));
  if (context.output !== 'ndjson') await printOutcomes(context, ended);
  if (plan.delivery.toStdout !== true && tellIdle(context, outcomes)) return;
  if (outcomes.every(({ state }) => state.phase === 'done')) tellNextSteps(context, ended, isFree);
}

async function runPlan(work: ConnectedRun): Promise<readonly RunOutcome[]> {
  const { context, plan, kind, runOptions } = work;
  let isCostKnown = true;
  const view = await createBatchView(context, { items: plan.planned.map(({ item }) => item) });
  try {
    const outcomes = await runBatch({
      ...batchOf(work),
      tasks: plan.planned,
      preface: prefaceOf(work),
      listen: (event) => {
        if (event.type === 'credits') isCostKnown = event.ofThisRun !== null;
        view.listener(event);
      },
    });
    // A run that stopped has said so.
    const isStopped = outcomes.some(({ state }) => state.phase === 'left');
    if (runOptions.maxCredits !== null && !isCostKnown && !isStopped)
      context.terminal.warn(`${STOP_WORDS['price-unknown'].why}; ${howToState(context, kind)}`);
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

async function finish(work: ConnectedRun, outcomes: readonly RunOutcome[]): Promise<void> {
  const { context, plan, connection } = work;
  const isEmbedded = connection.capabilities !== null;
  if (context.signal.aborted) {
    tellStop(context, outcomes, plan.delivery, isEmbedded);
    throw context.signal.reason;
  }
  await printEnd(context, plan, outcomes, isEmbedded);
  const isLeft = outcomes.some(({ state }) => state.phase === 'left' && state.jobId !== null);
  if (isLeft) tellContinuation(context, outcomes, plan.delivery, isEmbedded);
  else tellKeptJobs(context, outcomes, plan.delivery);
  const failure = summarizeFailure(outcomes);
  if (failure !== null) throw failure;
}

export interface JobRun {
  readonly kind: JobKind;
  readonly context: Context;
  readonly operands: readonly string[];
  readonly options: JobOptions;
  readonly runOptions: RunOptions;
  readonly delivery: Delivery;
  readonly connection: Connection;
}

/** The batch of a run, without its items. */
export function batchOf({
  kind,
  context,
  operands,
  options,
  runOptions,
  delivery,
  connection,
}: JobRun): Omit<Batch, 'tasks' | 'preface' | 'listen'> {
  const { io, signal, terminal } = context;
  return {
    delivery: { ...delivery, folder: resolve(io.cwd, delivery.folder) },
    connection,
    inputFiles: namedPaths(io.cwd, operands, options),
    records: openLocalRecords(connection, io.now),
    options: runOptions,
    runtime: { ...SYSTEM_RUNTIME, ...io.pace?.runtime },
    preparation: createPreparation(io),
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
  { kind, context, operands, options }: Pick<JobRun, 'kind' | 'context' | 'operands' | 'options'>,
  items: readonly string[],
  part?: { readonly partial: true },
): LogRecord {
  const { io, commandLine, service } = context;
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
