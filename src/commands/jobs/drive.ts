/**
 * Drives a command that makes jobs, whatever its tasks come from: opens its folder and its memory, connects once something has to be
 * sent, and says how it ended. Read `drive` first; its ways are a list (`run-jobs.ts`), files that arrive (`watch-jobs.ts`), and
 * videos in stages (`stages/run-stages.ts`).
 */
import { hostname } from 'node:os';
import { EXIT_CODES } from '../../base/exit-codes.ts';
import type { Failure } from '../../base/failure.ts';
import type { CreditTotals } from '../../batch/bill.ts';
import { namedPaths } from '../../batch/inputs/candidate.ts';
import type { Delivery } from '../../batch/inputs/delivery.ts';
import type { BatchListener } from '../../batch/item.ts';
import type { BatchPlan } from '../../batch/plan/batch-plan.ts';
import type { Choices } from '../../batch/plan/decision.ts';
import { type BatchCommand, createBatchCommand, itemsOfBefore } from '../../batch/records/command-record.ts';
import { nameOfKey } from '../../batch/records/item-key.ts';
import { createUnusableRecord, createUsableRecord } from '../../batch/records/unusable-inputs.ts';
import type { Batch, RunOptions, RunOutcome } from '../../batch/run/batch.ts';
import { choicesOf, type OpenBatch, openBatch } from '../../batch/run/open-batch.ts';
import { type BatchMemory, createOtherLines } from '../../batch/run/recall.ts';
import type { Terms } from '../../batch/terms.ts';
import { SYSTEM_RUNTIME } from '../../client/runtime.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { type Connection, connectService } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import { openLocalRecords } from '../context/local-records.ts';
import { nothing } from '../context/output/presentation.ts';
import { type BatchView, type BatchViewOptions, createBatchView } from '../screen/view.ts';
import { noteContinuation, noteIdle, noteKeptJobs } from './continuation.ts';
import type { JobOptions } from './job-options.ts';
import { exitCodeOf, type Outcome, presentOutcomes } from './job-outcomes.ts';
import { createMarking } from './mark-program.ts';
import { createPreparation } from './preparation.ts';
import { noteSamples, type SampleReport } from './sample.ts';
import { limitRun } from './spending.ts';
import { noteRemembered, openMemoryFor } from './use-memory.ts';
import type { Provenances } from './write-provenance.ts';

/** A command that makes jobs. */
export interface Command {
  readonly kind: JobKind;
  readonly context: Context;
  readonly operands: readonly string[];
  readonly options: JobOptions;
  readonly runOptions: RunOptions;
  readonly delivery: Delivery;
  /** Those of --terms. */
  readonly terms: Terms | undefined;
  /** Whether each item has several jobs, one for each stage: they are recorded as they come, and only the command continues them. */
  readonly inStages: boolean;
}

/** The service, once a command has connected to it. */
interface Served {
  readonly connection: Connection;
  readonly memory: BatchMemory | undefined;
}

/** A command that may ask its memory and the service, in a run or a dry run. */
export interface OpenCommand extends Command {
  /** How it decides now about items that earlier runs have begun. */
  choices(): Choices;
  /** Connects on the first call. */
  connect(): Promise<Served>;
  /** Null before. */
  served(): Served | null;
}

/** A command at work in its folder, where no other process works meanwhile. */
export interface CommandRun extends OpenCommand, Omit<OpenBatch, 'close'> {
  /** Shows the progress, until the end of the run. */
  show(options: BatchViewOptions): Promise<BatchView>;
}

/** How a run ended, and what is said of it. */
export interface Ending {
  readonly view: BatchView;
  readonly outcomes: readonly RunOutcome[];
  /** Those of them that the end tells of; default: all. */
  readonly told?: readonly RunOutcome[];
  /** The same as they are printed; null if they were printed as they came, or are not printed. */
  readonly printed: readonly Outcome[] | null;
  readonly failure: Failure | null;
  readonly sample?: SampleReport | null;
  /** Default: the credits that the view has counted. */
  readonly credits?: CreditTotals;
  /** Whether credits cost nothing. */
  readonly isFree: boolean;
  /** What the run comes to, and what to do next. */
  readonly notes?: readonly string[];
  /** What can be done with the results, if all are there and any is new. */
  readonly next?: readonly string[];
  /** Whether to print the command that continues. */
  readonly goesOn: boolean;
}

/**
 * Runs a command in its folder.
 * @param way takes its tasks to their results
 * @returns the exit code 0
 * @throws Failure that the run ends with; the reason of the signal
 */
export async function drive(command: Command, way: (run: CommandRun) => Promise<Ending>): Promise<number> {
  const { context, delivery } = command;
  // The lock and the records.
  const batch = await openBatch(delivery);
  const shown: BatchView[] = [];
  try {
    await withMemory(command, true, async (opened) => {
      const provenances = await openProvenances({ ...opened, ...batch });
      const show = async (options: BatchViewOptions): Promise<BatchView> => {
        const view = await createBatchView(context, options);
        shown.push(view);
        const listener: BatchListener = (event) => {
          view.listener(event);
          provenances?.listen(event);
        };
        return { ...view, listener };
      };
      const ending = await way({ ...opened, ...batch, show }).finally(() => provenances?.end());
      await end(opened, { ...ending, failure: ending.failure ?? provenances?.failure ?? null });
    });
    return EXIT_CODES.done.code;
  } catch (error) {
    throw context.signal.aborted ? context.signal.reason : error;
  } finally {
    for (const view of shown) view.close();
    await batch.close();
  }
}

/** What --provenance asks for; null without. */
async function openProvenances(run: Omit<CommandRun, 'show'>): Promise<Provenances | null> {
  if (run.options.provenance !== true || run.delivery.toStdout === true) return null;
  return (await import('./write-provenance.ts')).createProvenances(run);
}

/**
 * Opens the memory of a command, and closes it and the connection after the work.
 * @param writes false for a dry run, which changes nothing
 * @throws Failure of the memory; what the work throws
 */
export async function withMemory<T>(
  command: Command,
  writes: boolean,
  work: (opened: OpenCommand) => Promise<T>,
): Promise<T> {
  const { kind, inStages, context, options, delivery, runOptions } = command;
  const translates = kind === 'subtitle_translation' || inStages;
  const store = translates ? await openMemoryFor(options, context, delivery, writes) : undefined;
  const service: { connection: Promise<Connection> | null; served: Served | null } = {
    connection: null,
    served: null,
  };
  try {
    return await work({
      ...command,
      choices: () => ({
        ...choicesOf(runOptions, delivery, context.io.now(), context.signal),
        otherLines: store && createOtherLines(store, delivery),
      }),
      async connect() {
        service.connection ??= connectService(context);
        const connection = await service.connection;
        const used = { lines: 0, known: 0 };
        const memory = store && { store, origin: await connection.translator(), used };
        service.served ??= { connection, memory };
        return service.served;
      },
      served: () => service.served,
    });
  } finally {
    await store?.close();
    await (await service.connection?.catch(() => null))?.close();
  }
}

/** Prints how a run ended, and how to go on. @throws the Failure that it ends with; the reason of the signal */
async function end({ context, delivery, inStages, served }: OpenCommand, ending: Ending): Promise<void> {
  const { view, outcomes, told = outcomes, printed, failure, sample = null, isFree, goesOn } = ending;
  const { note } = context.terminal;
  const isStopped = context.signal.aborted;
  if (sample !== null) context.present.event({ type: 'sample', ...sample });
  view.summarize(outcomes, exitCodeOf(context, failure), ending.credits);
  view.close();
  noteRemembered(context, served()?.memory);
  if (printed !== null) {
    const shown = presentOutcomes(context, printed, undefined, sample === null ? {} : { sample });
    // The view has printed the events.
    await context.present.show({ ...shown, events: nothing });
  }
  for (const text of ending.notes ?? []) note(text);
  const isIdle = delivery.toStdout !== true && noteIdle(context, told);
  const isDone = told.every(({ state }) => state.phase === 'done');
  if (isDone && !isIdle && !isStopped) for (const text of ending.next ?? []) note(text);
  if (sample !== null && !isStopped) noteSamples(context, sample, isFree);
  if (goesOn) noteContinuation(context, told, inStages ? null : delivery, isFree);
  else if (!inStages) noteKeptJobs(context, told, delivery);
  if (isStopped) throw context.signal.reason;
  if (failure !== null) throw failure;
}

/**
 * The batch of a run, without its tasks.
 * @param kinds of the jobs that may be sent
 * @throws Failure of the service; `credits` if a limit could not hold from the first job on
 */
export async function batchOf(
  run: CommandRun,
  kinds: readonly JobKind[],
): Promise<Omit<Batch, 'tasks' | 'preface' | 'listen'>> {
  const { kind, context, operands, options, runOptions, delivery, terms, journal } = run;
  const { io, signal, terminal } = context;
  const marks = kind === 'auto_localization' && options.noMark !== true;
  const marking = marks ? await createMarking(context) : undefined;
  const { connection, memory } = await run.connect();
  return {
    ...{ journal, delivery, connection, terms, memory, signal },
    inputFiles: namedPaths(io.cwd, operands, options),
    records: openLocalRecords(connection, io.now),
    options: await limitRun(kinds, runOptions, connection, context),
    runtime: { ...SYSTEM_RUNTIME, ...io.pace?.runtime },
    preparation: createPreparation(io, marking),
    masksTerms: options.maskTerms ?? false,
    command: kind,
    warn: terminal.warn,
  };
}

/** The record of the command. @param items keys of those that it is about */
export function commandRecord(command: Command, items: readonly string[]): BatchCommand {
  const { kind, context, operands, options, inStages } = command;
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
    ...(inStages ? { partial: true } : {}),
    items: [...items],
  });
}

/**
 * Records which inputs cannot be used, and which were fixed or are gone, for the commands that read it.
 * @param isRecorded false if the record of an earlier run stays, of which this one repeats some items
 * @throws Failure (`temporary`, `disk`)
 */
export async function recordInputs(
  run: CommandRun,
  { planned, renamed }: Pick<BatchPlan, 'planned' | 'renamed'>,
  isRecorded: boolean,
): Promise<void> {
  const { journal, context, delivery, inStages } = run;
  const before = journal.checked.unusable;
  const unusable = planned.flatMap(({ item, decision }) =>
    // Other refusals leave an earlier result as it is.
    decision.step === 'unusable' ? [createUnusableRecord(item, decision.detail, context.io.now())] : [],
  );
  const fixed = planned.flatMap(({ item, decision }) =>
    decision.step !== 'unusable' && before.has(item.key) ? [createUsableRecord(item.key)] : [],
  );
  const keys = planned.map(({ item }) => item.key);
  const names = inStages ? keys.map((key) => nameOfKey(key) ?? '') : [];
  const whole = commandRecord(run, inStages ? unusable.map(({ item }) => item) : keys);
  const command = inStages ? { ...whole, names } : whole;
  const here = new Set([...keys, ...names]);
  const isAnyGone = itemsOfBefore(journal.commands, command).some(
    (key) => !here.has(key) && !here.has(nameOfKey(key) ?? ''),
  );
  // The record of a shard shows that it has run, even if it has nothing to do.
  const isNews = unusable.length > 0 || isAnyGone || delivery.shard !== undefined;
  const records = [...(isRecorded && isNews ? [command] : []), ...renamed, ...unusable, ...fixed];
  if (records.length > 0) await journal.add(...records);
}
