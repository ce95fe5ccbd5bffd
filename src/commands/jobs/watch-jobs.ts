/** A job command with --watch: new files in folders are processed until Ctrl-C. */
import { resolve, sep } from 'node:path';
import { Failure, isOfRecords } from '../../base/failure.ts';
import { describeUnreadable, errorCode } from '../../base/system-error.ts';
import type { InputProblem } from '../../batch/input.ts';
import { isNonFileInput } from '../../batch/inputs/candidate.ts';
import { flagName } from '../../batch/inputs/field-flags.ts';
import { describeSystemFolders } from '../../batch/inputs/system-folders.ts';
import type { BatchEvent, BatchItem } from '../../batch/item.ts';
import type { Choices, Recorded } from '../../batch/plan/decision.ts';
import { createWatchPlanner, type WatchPlan, type WatchPlanner } from '../../batch/plan/plan.ts';
import type { BatchRecord } from '../../batch/records/batch-records.ts';
import { writeShard } from '../../batch/records/shard.ts';
import type { Arrival, RunOutcome, Task, TaskSource } from '../../batch/run/batch.ts';
import { summarizeFailure } from '../../batch/run/outcome.ts';
import {
  checkResultsFolder,
  checkWatched,
  createFilesAtWork,
  type FilesAtWork,
  watchFolders,
} from '../../batch/run/watch-folders.ts';
import { runBatch } from '../../batch/run-batch.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { asSentence } from '../context/format.ts';
import { batchOf, type CommandRun, commandRecord, drive, type Ending } from './drive.ts';
import type { JobOptions } from './job-options.ts';
import { toOutcome } from './job-outcomes.ts';
import {
  createSupportCheck,
  openRequest,
  readEarlierRuns,
  refuseUnsupported,
  type SupportCheck,
} from './plan-jobs.ts';
import { readDubOptions } from './redub.ts';
import { checkTerms } from './terms.ts';

/**
 * Watches the folders of the operands. Finished items are not sent again, and running jobs are resumed.
 * @returns the exit code 0 when a time limit has ended it and everything is done
 * @throws Failure that the watch ended with; the reason of the signal
 */
export async function watchJobs(
  kind: JobKind,
  context: Context,
  operands: readonly string[],
  options: JobOptions,
): Promise<number> {
  const runOptions = readDubOptions(kind, options, context);
  const { request, planIo } = await openRequest(kind, operands, options, context);
  const planner = createWatchPlanner(request, planIo);
  const { delivery, requests } = planner;
  const languages = requests.map(({ targetLanguage }) => targetLanguage);
  const { terms, look } = request;
  await checkTerms(kind, options, terms, languages, context);
  await readEarlierRuns(context, delivery);
  const place = { cwd: context.io.cwd, results: delivery.folder };
  const folders = await checkWatch(kind, operands, options, place);
  const command = { kind, context, operands, options, runOptions, delivery, terms, inStages: false };
  return drive(command, (run) => watch(run, folders, planner, look));
}

async function watch(
  run: CommandRun,
  folders: readonly string[],
  planner: WatchPlanner,
  look: BatchItem['look'],
): Promise<Ending> {
  const { kind, context, operands, delivery } = run;
  const { connection } = await run.connect();
  const check = createSupportCheck(connection.capabilities, context);
  const failures = await Promise.all(planner.requests.map(({ fields }) => check(kind, fields, look)));
  // The items of other requests can run.
  if (!failures.includes(null)) for (const failure of failures) if (failure !== null) throw failure;
  const batch = await batchOf(run, [kind]);
  const { shard } = delivery;
  const share = shard === undefined ? 'files' : `the files of shard ${writeShard(shard)}`;
  context.terminal.note(
    `Watching ${operands.join(', ')}: ${share} are processed as they arrive, until Ctrl-C.`,
  );
  const source = createWatchSource(run, folders, check, planner);
  const view = await run.show({ items: [], grows: true });
  const outcomes = await runBatch({
    ...batch,
    tasks: [],
    more: source.more,
    itemCount: Number.POSITIVE_INFINITY,
    // Each record of the command comes with the items that it is for.
    preface: [],
    listen: (event) => {
      source.listen(event);
      view.listener(event);
      printAsDone(context, event);
    },
  });
  const own = outcomes.filter(({ state }) => state.phase !== 'done' || state.before === null);
  return {
    ...{ view, outcomes, told: own, isFree: connection.isFree },
    // All of it was done by this run, so the outcomes contain the files.
    printed: isStreamed(context) ? null : own.map((outcome) => toOutcome(outcome, undefined)),
    failure: source.failure ?? summarizeFailure(outcomes),
    notes: [`Stopped watching: ${countOutcomes(own)}.`],
    goesOn: true,
  };
}

/** Options that contradict --watch, with the reason. */
const AGAINST = {
  dryRun: 'files that have not arrived cannot be planned; omit --watch to plan the existing ones',
  detach: 'watching does not end by itself; omit --detach',
  filesFrom: 'a list is finite; omit one of the two',
  filesFrom0: 'a list is finite; omit one of the two',
  sheet: 'a sheet is finite; omit one of the two',
  sample: 'a sample is for a first look; omit one of the two',
} as const;

/**
 * The folders to watch, absolute.
 * @param results folder of the results, absolute
 * @throws Failure (`usage`)
 */
async function checkWatch(
  kind: JobKind,
  operands: readonly string[],
  options: JobOptions,
  { cwd, results }: { readonly cwd: string; readonly results: string },
): Promise<readonly string[]> {
  const names = Object.keys(AGAINST) as (keyof typeof AGAINST)[]; // of a constant
  const other = names.find((name) => options[name] !== undefined && options[name] !== false);
  if (other !== undefined)
    throw watchUsageFailure(`--watch cannot be combined with ${flagName(other)}`, AGAINST[other]);
  if (operands.length === 0)
    throw watchUsageFailure('--watch needs a folder', 'name the folder in which files arrive');
  const stranger = operands.find((operand) => isNonFileInput(operand, KINDS[kind].input));
  if (stranger !== undefined)
    throw watchUsageFailure(
      `--watch needs folders, but ${stranger} is not a folder`,
      'use a separate command for it',
    );
  const folders = operands.map((operand) => resolve(cwd, operand));
  for (const folder of folders) await checkWatched(folder);
  const inner = folders.find((folder, position) => folders.some(isAround(folder, position)));
  if (inner !== undefined)
    throw watchUsageFailure(
      `${inner} would be watched twice`,
      'subfolders are watched too; name the folder once',
    );
  for (const folder of folders) await checkResultsFolder(folder, results);
  return folders;
}

/** Whether another folder holds this one, or is it. */
function isAround(folder: string, position: number): (other: string, at: number) => boolean {
  return (other, at) => at !== position && (folder === other || folder.startsWith(`${other}${sep}`));
}

function watchUsageFailure(message: string, fix: string): Failure {
  return invalidCallFailure(message, asSentence(fix));
}

/** True for output forms with one line per item, which are printed immediately. */
function isStreamed({ present, fields }: Pick<Context, 'present' | 'fields'>): boolean {
  return present.part === 'ids' || (present.part === 'rows' && fields === null);
}

/** Prints results to stdout as they finish. */
function printAsDone(context: Context, event: BatchEvent): void {
  if (!isStreamed(context) || event.type !== 'item') return;
  const { state } = event;
  if (state.phase !== 'done' || state.before !== null || event.item.isInner === true) return;
  void context.present.show({
    rows: () => state.files.map(({ path }) => [path]),
    ids: () => (state.jobId === null ? [] : [state.jobId]),
  });
}

/** Reports an input that is skipped. */
function noteExcluded({ terminal, present }: Context, { pointer, detail }: InputProblem): void {
  terminal.warn(`Skipped: ${pointer}: ${detail}`);
  present.event({ type: 'left_out', input: pointer, message: detail });
}

function countOutcomes(outcomes: readonly RunOutcome[]): string {
  const count = (wanted: (outcome: RunOutcome) => boolean) => outcomes.filter(wanted).length;
  const running = count(({ state }) => state.phase === 'left' && state.jobId !== null);
  const parts = [
    [count(({ state }) => state.phase === 'done'), 'done'],
    [running, 'running'],
    [count(({ state }) => state.phase === 'left') - running, 'not started'],
    [count(({ state }) => state.phase === 'failed'), 'failed'],
  ] as const;
  const shown = parts.filter(([number], position) => position === 0 || number > 0);
  return shown.map(([number, what]) => `${number} ${what}`).join(', ');
}

interface WatchSource {
  readonly more: TaskSource;
  readonly listen: FilesAtWork['listen'];
  /** The failure that ended the watch; null otherwise. */
  readonly failure: Failure | null;
}

/** @param folders absolute */
function createWatchSource(
  run: CommandRun,
  folders: readonly string[],
  check: SupportCheck,
  planner: WatchPlanner,
): WatchSource {
  const { io } = run.context;
  const work = createFilesAtWork(io.now);
  const planned = new Set<string>();
  const reported = new Set<string>();
  let failure: Failure | null = null;
  let isSkipNoted = false;

  /** The first ones stand for those that appear later. */
  function noteSkipped(folders: readonly string[]): void {
    if (isSkipNoted) return;
    isSkipNoted = true;
    for (const note of describeSystemFolders(folders)) run.context.terminal.note(note);
  }

  function tell(problems: readonly InputProblem[]): void {
    for (const problem of problems) {
      const key = JSON.stringify(problem);
      if (!reported.has(key)) noteExcluded(run.context, problem);
      reported.add(key);
    }
  }

  /** --fresh ignores earlier runs, but a file that this run has seen is not paid for twice. */
  async function plan(paths: readonly string[]): Promise<Arrival> {
    const choices = run.choices();
    const [news, known] = [
      paths.filter((path) => !planned.has(path)),
      paths.filter((path) => planned.has(path)),
    ];
    const rounds = [
      { paths: news, choices, isNew: true },
      { paths: known, choices: { ...choices, fresh: false }, isNew: false },
    ].filter((round) => round.paths.length > 0);
    const tasks: Task[] = [];
    const renamed: BatchRecord[] = [];
    for (const round of rounds) {
      for (const part of await planReadable(planner, round.paths, run.recorded(), round.choices)) {
        tell(part.excluded);
        for (const note of part.notes) run.context.terminal.note(note);
        // Items that this run has finished are reported already.
        const supported = await refuseUnsupported(part.planned, check);
        tasks.push(...supported.filter(({ decision }) => round.isNew || decision.step !== 'done'));
        renamed.push(...part.renamed);
      }
    }
    for (const path of paths) planned.add(path);
    return { tasks, records: renamed };
  }

  async function* arrive(signal: AbortSignal): AsyncGenerator<Arrival> {
    const { workOn } = work;
    const onSkipped = noteSkipped;
    const watched = watchFolders({ folders, workOn, onSkipped, signal, now: io.now, ...openWatchOf(io) });
    for await (const paths of watched) {
      const { tasks, records } = await plan(paths);
      const items = tasks.map(({ item }) => item);
      work.begin(paths, items);
      const command = commandRecord(
        run,
        items.map(({ key }) => key),
      );
      if (tasks.length > 0) yield { tasks, records: [command, ...records] };
    }
  }

  return {
    async *more(signal) {
      try {
        yield* arrive(signal);
      } catch (error) {
        if (!(error instanceof Failure) || isOfRecords(error)) throw error;
        failure = error;
      }
    },
    listen: work.listen,
    get failure() {
      return failure;
    },
  };
}

function openWatchOf({ openWatch }: Context['io']) {
  return openWatch === undefined ? {} : { openWatch };
}

/** Plans the files, together if all are there; if one disappears meanwhile, only that file is reported. */
async function planReadable(
  planner: WatchPlanner,
  paths: readonly string[],
  recorded: Recorded,
  choices: Choices,
): Promise<readonly WatchPlan[]> {
  try {
    return [await planner.plan(new Set(paths), recorded, choices)];
  } catch (error) {
    const code = errorCode(error);
    const [only] = paths;
    if (code === '' || only === undefined) throw error;
    if (paths.length === 1) {
      const detail = describeUnreadable(error) ?? `it cannot be read (${code})`;
      return [{ planned: [], excluded: [{ pointer: only, detail }], notes: [], renamed: [] }];
    }
  }
  const single: WatchPlan[] = [];
  for (const path of paths) single.push(...(await planReadable(planner, [path], recorded, choices)));
  return single;
}
