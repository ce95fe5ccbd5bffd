/** Turns new files in watched folders into tasks of a run. */

import { Failure, isOfRecords } from '../../base/failure.ts';
import { describeUnreadable, errorCode } from '../../base/system-error.ts';
import type { InputProblem } from '../../batch/plan/input.ts';
import type { WatchPlan, WatchPlanner } from '../../batch/plan/plan.ts';
import type { Arrival, TaskSource } from '../../batch/run/batch.ts';
import { createFilesAtWork, type FilesAtWork, watchFolders } from '../../batch/run/watch-folders.ts';
import { historyChoices } from './read-history.ts';
import { commandRecord, type JobRun } from './run-jobs.ts';

type Recorded = Parameters<TaskSource>[0];

export interface WatchSource {
  readonly more: TaskSource;
  readonly listen: FilesAtWork['listen'];
  /** The failure that ended the watch; null otherwise. */
  readonly failure: Failure | null;
}

/**
 * @param folders absolute
 * @param reportExcluded called once for each input that cannot be used
 */
export function createWatchSource(
  run: JobRun,
  folders: readonly string[],
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
  async function plan(paths: readonly string[], recorded: Recorded): Promise<WatchPlan['planned']> {
    const choices = historyChoices(run.context, run.options);
    const [news, known] = [
      paths.filter((path) => !planned.has(path)),
      paths.filter((path) => planned.has(path)),
    ];
    const rounds = [
      { paths: news, choices, isNew: true },
      { paths: known, choices: { ...choices, fresh: false }, isNew: false },
    ].filter((round) => round.paths.length > 0);
    const tasks: WatchPlan['planned'][number][] = [];
    for (const round of rounds) {
      const made = await planReadable(planner, round.paths, { recorded: recorded(), choices: round.choices });
      tell(made.excluded);
      for (const note of made.notes) run.context.terminal.note(note);
      // Items that this run has finished are reported already.
      tasks.push(...made.planned.filter(({ decision }) => round.isNew || decision.step !== 'done'));
    }
    for (const path of paths) planned.add(path);
    return tasks;
  }

  async function* arrive(recorded: Recorded, signal: AbortSignal): AsyncGenerator<Arrival> {
    const { workOn } = work;
    const watched = watchFolders({ folders, workOn, signal, now: io.now, ...openWatchOf(run) });
    for await (const paths of watched) {
      const tasks = await plan(paths, recorded);
      const items = tasks.map(({ item }) => item);
      work.begin(paths, items);
      const records = [
        commandRecord(
          run,
          items.map(({ key }) => key),
        ),
      ];
      if (tasks.length > 0) yield { tasks, records };
    }
  }

  return {
    async *more(recorded, signal) {
      try {
        yield* arrive(recorded, signal);
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
  history: Parameters<WatchPlanner['plan']>[1],
): Promise<WatchPlan> {
  try {
    return await planner.plan(new Set(paths), history);
  } catch (error) {
    const code = errorCode(error);
    const [only] = paths;
    if (code === '' || only === undefined) throw error;
    if (paths.length === 1) {
      const detail = describeUnreadable(error) ?? `it cannot be read (${code})`;
      return { planned: [], excluded: [{ pointer: only, detail }], notes: [] };
    }
  }
  const single: WatchPlan[] = [];
  for (const path of paths) single.push(await planReadable(planner, [path], history));
  return {
    planned: single.flatMap(({ planned }) => planned),
    excluded: single.flatMap(({ excluded }) => excluded),
    notes: single.flatMap(({ notes }) => notes),
  };
}
