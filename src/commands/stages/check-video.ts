/** Checks videos on this machine before the first paid job, where no service has seen them. */

import { tmpdir } from 'node:os';
import PQueue from 'p-queue';
import { takeTurn } from '../../base/together.ts';
import { videoStage } from '../../batch/inputs/stage-items.ts';
import type { ItemState } from '../../batch/item.ts';
import { decisionFailure } from '../../batch/plan/refusal.ts';
import { listJobs } from '../../batch/recipes/stages.ts';
import { newestAttempt } from '../../batch/records/item-key.ts';
import { readFacts } from '../../media/probe/facts.ts';
import { requirePlayable } from '../../media/probe/inspect.ts';
import { PreparationFailure } from '../../media/programs/failures.ts';
import { createPrograms } from '../../media/programs/programs.ts';
import type { SourceVideo } from './stage-plan.ts';
import { failUnsent, listUnfinished, type StagedRun, type TargetState } from './staged-run.ts';

/** Checks a video; if it cannot be used, its targets fail. @throws Failure of the journal; the reason of the signal */
export type VideoCheck = (states: readonly TargetState[]) => Promise<void>;

/** Checks one video at a time: each decoder uses several cores. */
export function createVideoCheck(run: StagedRun): VideoCheck {
  const { context, states: all } = run;
  const turns = new PQueue({ concurrency: 1 });
  const programs = createPrograms(context.io.env.PATH ?? '');
  const isInstalled = ['ffmpeg', 'ffprobe'].every((program) => programs.locate(program) !== null);
  return async (states) => {
    const due = listUnfinished(states).filter((state) => isPaid(run, state));
    const [first] = due;
    if (first === undefined || !isInstalled || isSentFirst(run, first.video)) return;
    const leave = await takeTurn(turns, context.signal, all.indexOf(first));
    try {
      const { path, preparation } = first.video.item.input;
      const reading: ItemState = { phase: 'preparing', doing: 'reading', fraction: null };
      for (const { target } of due)
        run.view.listener({ type: 'item', item: target.item, state: reading, atMs: context.io.now() });
      const work = { signal: context.signal, folder: tmpdir() };
      const facts = await readFacts(programs, path, work);
      await requirePlayable(programs, { path, facts, track: preparation?.track ?? 1 }, work);
    } catch (error) {
      if (context.signal.aborted) throw context.signal.reason;
      if (!(error instanceof PreparationFailure)) throw error;
      const detail = `${error.message}; ${error.advice}`;
      const failure = decisionFailure({ step: 'unusable', detail });
      for (const state of due) await failUnsent(run, state, failure);
    } finally {
      leave();
    }
  };
}

/** Whether a target may still need a paid job. */
function isPaid({ plan }: StagedRun, { target, recipe }: TargetState): boolean {
  return !plan.stages.finished.has(target.item.key) && listJobs(recipe).length > 0;
}

/** Whether the first job sends the video, which the service then checks, or a job has sent this very file before. */
function isSentFirst({ plan, needs }: StagedRun, video: SourceVideo): boolean {
  const { key } = videoStage('subtitle_recognition', video.item);
  if (needs.has(key)) return true;
  const known = plan.recorded.facts.get(key);
  const { bytes, mtimeMs } = video.item.input;
  return (
    newestAttempt(key, plan.recorded.attempts)?.state === 'downloaded' &&
    known?.size === bytes &&
    known.mtime_ms === mtimeMs
  );
}
