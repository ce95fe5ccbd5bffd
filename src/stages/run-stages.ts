/** A localization in stages: each is an ordinary run of jobs over all videos, and people may step in between. */

import { foldBatchCommands } from '../batch/report/command-record.ts';
import { readBatchLog } from '../batch/report/read-batch.ts';
import { createUnusableRecord, createUsableRecord, foldUnusable } from '../batch/report/unusable-inputs.ts';
import { openBatchJournal } from '../batch/run/journal.ts';
import type { Context } from '../context/context.ts';
import { Failure } from '../errors/failure.ts';
import type { LogRecord } from '../journal/record-line.ts';
import { createBatchView } from '../workflow/batch/view.ts';
import { exportVideos } from './export-videos.ts';
import { finishStages, tellInterrupted } from './finish-stages.ts';
import { recognizeAll, translateAll } from './make-subtitles.ts';
import { makeVoices } from './make-voices.ts';
import { planStages } from './plan-stages.ts';
import { commandRecord } from './run-phase.ts';
import { going, openSession, type Session } from './session.ts';
import type { StageOptions } from './stage-options.ts';
import type { StagePlan } from './stage-plan.ts';

/**
 * Runs the stages that are asked for; returns the exit code 0, or throws the Failure that the command ends with.
 * What is done is not done again, and what depends on something that was changed is.
 * @param isRetry whether `batch retry` repeats the command: results that have expired are made again
 */
export async function runStages(
  context: Context,
  operands: readonly string[],
  options: StageOptions,
  isRetry = false,
): Promise<number> {
  const plan = await planStages(context, operands, options);
  for (const note of plan.notes) context.terminal.note(note);
  await checkExport(context, plan);
  const session = await openSession(context, operands, options, plan, isRetry);
  try {
    await recordUnusable(session);
    await runAll(session);
    await finishStages(session);
    return 0;
  } catch (error) {
    if (!context.signal.aborted) throw error;
    await tellInterrupted(session);
    throw context.signal.reason;
  } finally {
    await session.close();
  }
}

/** The last stage needs ffmpeg here, whichever service does the others: that is said before they are paid. */
async function checkExport({ io }: Context, { choices, talks }: StagePlan): Promise<void> {
  const isDue =
    choices.stopAfter === null && talks.some(({ wishes }) => wishes.some((wish) => !wish.isLeftOut));
  if (!isDue) return;
  const { createPrograms } = await import('../engines/programs.ts');
  const { locate } = createPrograms(io.env.PATH ?? '');
  const missing = ['ffmpeg', 'ffprobe'].find((program) => locate(program) === null);
  if (missing === undefined) return;
  throw new Failure({
    category: 'configuration',
    code: 'ENGINE_MISSING',
    message: `${missing} is not installed, and the finished video is put together on this machine; nothing was sent`,
    advice: 'vloc engines install',
  });
}

/**
 * Reports the files that cannot be used, and keeps them in the journal for `batch status` and the other commands that
 * read it. So are files that were fixed since an earlier run.
 */
async function recordUnusable(session: Session): Promise<void> {
  const { context, plan, unusable } = session;
  const { folder } = plan.delivery;
  const keys = new Set(plan.unusable.map(({ item }) => item.key));
  const { records: known } = await readBatchLog(folder);
  const before = [...foldUnusable(known).unusable.keys()];
  // What this command could not use before may be gone from its folder.
  const own = new Set([...plan.order, ...itemsOfBefore(known, commandRecord(session, []))]);
  const fixed = before.filter((key) => own.has(key) && !keys.has(key));
  if (keys.size + fixed.length === 0) return;
  const atMs = context.io.now();
  const records = [
    ...(keys.size === 0 ? [] : [commandRecord(session, [...keys])]),
    ...plan.unusable.map(({ item, detail }) => createUnusableRecord(item, detail, atMs)),
    ...fixed.map(createUsableRecord),
  ];
  const journal = await openBatchJournal(folder);
  await journal.add(...records).finally(() => journal.close());
  if (unusable.length === 0) return;
  const view = await createBatchView(context, { items: unusable.map(({ item }) => item) });
  for (const { item, state } of unusable) view.listener({ type: 'item', item, state, atMs });
  view.close();
}

/** Keys of the items that earlier runs of the same command had. */
function itemsOfBefore(records: readonly LogRecord[], { argv, cwd }: LogRecord): readonly string[] {
  const identity = JSON.stringify([argv, cwd]);
  return foldBatchCommands(records)
    .filter((command) => JSON.stringify([command.argv, command.cwd]) === identity)
    .flatMap(({ items }) => items);
}

async function runAll(session: Session): Promise<void> {
  const { signal } = session.context;
  const { stopAfter } = session.plan.choices;
  await recognizeAll(session);
  signal.throwIfAborted();
  // What has reached a gate is done, whatever stopped the others there.
  if (stopAfter === 'recognize') return;
  leaveOut(session);
  await translateAll(session);
  signal.throwIfAborted();
  if (stopAfter === 'translate') return;
  leaveOut(session);
  const partsOf = await makeVoices(session);
  signal.throwIfAborted();
  // It costs nothing, so whatever has all its parts is finished, also when something has stopped the others.
  await exportVideos(session, partsOf);
}

/** What came to a stop in one stage is not begun in the next: credits, the key or the network would stop it there. */
function leaveOut(session: Session): void {
  const stop = session.journeys.map(({ end }) => end).find((end) => end?.phase === 'left');
  if (stop?.phase !== 'left') return;
  // The job of the stage before is done: with its id it would be told as one that still runs.
  for (const journey of going(session)) journey.end = { phase: 'left', jobId: null, because: stop.because };
}
