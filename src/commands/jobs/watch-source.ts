/** Turns new files in watched folders into tasks of a run. */

import { Failure, isOfRecords } from '../../base/failure.ts';
import { describeUnreadable, errorCode } from '../../base/system-error.ts';
import type { Choices, Recorded } from '../../batch/plan/decision.ts';
import type { InputProblem } from '../../batch/plan/input.ts';
import type { WatchPlan, WatchPlanner } from '../../batch/plan/plan.ts';
import type { BatchRecord } from '../../batch/records/batch-records.ts';
import type { Arrival, TaskSource } from '../../batch/run/batch.ts';
import { choicesOf } from '../../batch/run/open-batch.ts';
import { createFilesAtWork, type FilesAtWork, watchFolders } from '../../batch/run/watch-folders.ts';
import type { JobRun } from './run-jobs.ts';

export interface WatchSource {
  readonly more: TaskSource;
  readonly listen: FilesAtWork['listen'];
  /** The failure that ended the watch; null otherwise. */
  readonly failure: Failure | null;
}

export interface WatchedFolders {
  /** As the user named them. */
  readonly named: readonly string[];
  /** Absolute. */
  readonly folders: readonly string[];
  /** The record of the command with the items that arrived. @param keys of the items */
  readonly record: (keys: readonly string[]) => BatchRecord;
}

/**
 * @param reportExcluded called once for each input that cannot be used
 */
export function createWatchSource(
  run: JobRun,
  { folders, record }: WatchedFolders,
  planner: WatchPlanner,
  reportExcluded: (problem: InputProblem) => void,
): WatchSource {
  const { io } = run.context;
  const work = createFilesAtWork(io.now);
  const planned = new Set<string>();
  const reported = new Set<string>();
  let failure: Failure | null = null;

  function tell(problems: readonly InputProblem[]): void {
    for (const problem of problems) {
      const key = JSON.stringify(problem);
      if (!reported.has(key)) reportExcluded(problem);
      reported.add(key);
    }
  }

  /** --fresh ignores earlier runs, but a file that this run has seen is not paid for twice. */
  async function plan(paths: readonly string[]): Promise<Pick<WatchPlan, 'planned' | 'renamed'>> {
    const { batch, context, delivery, runOptions } = run;
    const choices = choicesOf(runOptions, delivery, io.now(), context.signal);
    const [news, known] = [
      paths.filter((path) => !planned.has(path)),
      paths.filter((path) => planned.has(path)),
    ];
    const rounds = [
      { paths: news, choices, isNew: true },
      { paths: known, choices: { ...choices, fresh: false }, isNew: false },
    ].filter((round) => round.paths.length > 0);
    const made: WatchPlan[] = [];
    for (const round of rounds) {
      const part = await planReadable(planner, round.paths, batch.recorded(), round.choices);
      tell(part.excluded);
      for (const note of part.notes) context.terminal.note(note);
      // Items that this run has finished are reported already.
      const due = part.planned.filter(({ decision }) => round.isNew || decision.step !== 'done');
      made.push({ ...part, planned: due });
    }
    for (const path of paths) planned.add(path);
    return {
      planned: made.flatMap((part) => part.planned),
      renamed: made.flatMap((part) => part.renamed),
    };
  }

  async function* arrive(signal: AbortSignal): AsyncGenerator<Arrival> {
    const { workOn } = work;
    const watched = watchFolders({ folders, workOn, signal, now: io.now, ...openWatchOf(run) });
    for await (const paths of watched) {
      const { planned: tasks, renamed } = await plan(paths);
      const items = tasks.map(({ item }) => item);
      work.begin(paths, items);
      const records = [record(items.map(({ key }) => key)), ...renamed];
      if (tasks.length > 0) yield { tasks, records };
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

function openWatchOf({ context }: JobRun) {
  const { openWatch } = context.io;
  return openWatch === undefined ? {} : { openWatch };
}

/** Plans the files; if one disappears meanwhile, only that file is reported. */
async function planReadable(
  planner: WatchPlanner,
  paths: readonly string[],
  recorded: Recorded,
  choices: Choices,
): Promise<WatchPlan> {
  try {
    return await planner.plan(new Set(paths), recorded, choices);
  } catch (error) {
    const code = errorCode(error);
    const [only] = paths;
    if (code === '' || only === undefined) throw error;
    if (paths.length === 1) {
      const detail = describeUnreadable(error) ?? `it cannot be read (${code})`;
      return { planned: [], excluded: [{ pointer: only, detail }], notes: [], renamed: [] };
    }
  }
  const single: WatchPlan[] = [];
  for (const path of paths) single.push(await planReadable(planner, [path], recorded, choices));
  return {
    planned: single.flatMap(({ planned }) => planned),
    excluded: single.flatMap(({ excluded }) => excluded),
    notes: single.flatMap(({ notes }) => notes),
    renamed: single.flatMap(({ renamed }) => renamed),
  };
}
