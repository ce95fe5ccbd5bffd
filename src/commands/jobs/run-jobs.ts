/** Runs a job command whose items are all known at the start, from its operands to its results. */
import { freeBytes } from '../../base/folder.ts';
import { isCopied } from '../../batch/input.ts';
import { isMadeHere } from '../../batch/inputs/items.ts';
import type { BatchPlan } from '../../batch/plan/batch-plan.ts';
import { decideBatch } from '../../batch/plan/plan.ts';
import type { RunOutcome, Task } from '../../batch/run/batch.ts';
import { checkTranslation } from '../../batch/run/check-translation.ts';
import { endedBefore, summarizeFailure } from '../../batch/run/outcome.ts';
import { STOP_WORDS } from '../../batch/run/stopping.ts';
import { runBatch } from '../../batch/run-batch.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Context } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import { describeNextSteps, describeStop } from './continuation.ts';
import {
  batchOf,
  type Command,
  type CommandRun,
  commandRecord,
  drive,
  type Ending,
  recordInputs,
} from './drive.ts';
import type { JobOptions } from './job-options.ts';
import { toOutcome } from './job-outcomes.ts';
import { type CollectedJobs, checkSupport, collectJobs, noteShard } from './plan-jobs.ts';
import { readDubOptions, requireOneDub } from './redub.ts';
import { reportSamples } from './sample.ts';
import { checkOneResult } from './stdout-result.ts';

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
  const { command, collected } = await collectCommand(kind, context, operands, options, only);
  if (toStdout) checkOneResult(kind, collected.items.length);
  const delivery = { ...command.delivery, toStdout };
  return drive({ ...command, delivery }, (run) => runPlan(run, { ...collected, delivery }, only !== null));
}

/**
 * A command, and its items: files, probes, names, conflicts. Nothing is locked, written or sent.
 * @param only see `RunMode`
 * @throws Failure of category usage
 */
export async function collectCommand(
  kind: JobKind,
  context: Context,
  operands: readonly string[],
  options: JobOptions,
  only: ReadonlySet<string> | null = null,
): Promise<{ readonly command: Command; readonly collected: CollectedJobs }> {
  // A retry makes expired results again.
  const runOptions = readDubOptions(kind, options, context, only !== null);
  const collected = await collectJobs(kind, operands, options, context, only);
  requireOneDub(runOptions, collected.all.length);
  const { delivery, terms } = collected;
  const command = { kind, context, operands, options, runOptions, delivery, terms, inStages: false };
  return { command, collected };
}

/** Decides for each item: done, continue, new or refused; and runs those that need it. */
async function runPlan(run: CommandRun, collected: CollectedJobs, isRetry: boolean): Promise<Ending> {
  const { context } = run;
  const plan = await decideBatch(collected, run.recorded(), run.choices(), { freeBytes });
  for (const note of [...collected.notes, ...plan.notes]) context.terminal.note(note);
  noteSkipped(context, plan);
  if (!isRetry) noteShard(context, collected);
  const before = plan.planned.flatMap((task) => endedBefore(task) ?? []);
  // Without anything to send, neither key nor network is needed.
  const isHere = before.length === plan.planned.length;
  const { view, outcomes } = isHere
    ? await showEnded(run, plan, before, isRetry)
    : await runTasks(run, plan, isRetry);
  const ended = outcomes.map((outcome, position) => toOutcome(outcome, plan.planned[position]));
  const copies = outcomes.map(({ item }) => isCopied(item.input));
  const made = ended.filter((_, at) => !copies[at]);
  const isStopped = context.signal.aborted;
  const isFree = run.served()?.connection.isFree ?? true;
  return {
    ...{ view, outcomes, isFree },
    printed: isStopped ? null : ended,
    failure: summarizeFailure(outcomes),
    sample: reportSamples(context, outcomes),
    notes: isStopped ? [describeStop(outcomes)] : [],
    next: describeNextSteps(context, made, isFree),
    goesOn: isStopped || outcomes.some(({ state }) => state.phase === 'left' && state.jobId !== null),
  };
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

type Ended = Pick<Ending, 'view' | 'outcomes'>;

/** Checks and shows items of which none needs the service. */
async function showEnded(
  run: CommandRun,
  plan: BatchPlan,
  before: readonly RunOutcome[],
  isRetry: boolean,
): Promise<Ended> {
  const { context, delivery, terms, options, journal } = run;
  await recordInputs(run, plan, !isRetry);
  const checks = { terms, masksTerms: options.maskTerms, warn: context.terminal.warn, delivery };
  const outcomes: RunOutcome[] = [];
  for (const outcome of before) {
    const { item, state } = outcome;
    const isDone = state.phase === 'done';
    const checked = isDone ? await checkTranslation({ batch: checks, journal }, item, state) : state;
    outcomes.push({ ...outcome, state: checked });
  }
  const view = await run.show({ items: outcomes.map(({ item }) => item) });
  const atMs = context.io.now();
  for (const { item, state } of outcomes) view.listener({ type: 'item', item, state, atMs });
  return { view, outcomes };
}

/** Uploads, submits, waits and delivers, as many items at a time as the limits allow. */
async function runTasks(run: CommandRun, plan: BatchPlan, isRetry: boolean): Promise<Ended> {
  const { kind, context, runOptions } = run;
  const { connection } = await run.connect();
  const tasks = await checkSupport(plan.planned, connection.capabilities, context);
  // Without a job to send, none may be sent instead of one that fails.
  const batch = await batchOf(run, tasks.some(sendsJobs) ? [kind] : []);
  const items = tasks.map(({ item }) => item);
  // A partial re-run keeps the record of the full command.
  const preface = isRetry
    ? []
    : [
        commandRecord(
          run,
          items.map(({ key }) => key),
        ),
      ];
  let isCostKnown = true;
  const view = await run.show({ items });
  const outcomes = await runBatch({
    ...batch,
    tasks,
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
  return { view, outcomes };
}

function sendsJobs({ item, decision }: Task): boolean {
  if (decision.step !== 'continue') return decision.step === 'new' && !isMadeHere(item);
  return decision.next.step === 'submit' || decision.next.step === 'parts';
}

/** Agents have no flags, and must not state prices: only the user can do that. */
function howToState({ spending }: Context, kind: JobKind): string {
  return spending === undefined
    ? `state the price with --price ${kind}=CREDITS`
    : `only the user can state the price, by setting VLOC_PRICE to ${kind}=CREDITS`;
}
