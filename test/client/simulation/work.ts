/** How long simulated jobs take, and how they report progress. */
import { createRandom, drawFactor } from './random.ts';

/** How a service reports progress: by stages, evenly, or as 0 until the end. */
export type ProgressReporting = 'staged' | 'even' | 'none';

export interface Work {
  readonly ms: number;
  /** Started minutes of video. */
  readonly minutes: number;
  /** 0 to 99. @param elapsedMs since the start of the job */
  progressAt(elapsedMs: number): number;
}

/** Of the logarithm of the work time. With this value one list every 2 s takes the 4.6 requests of the performance figures. */
const SIGMA = 0.6;
/** A job takes roughly as long as its video lasts. */
const MINUTES_SIGMA = 0.25;

/** Shares of the stages of a localization in its progress; their durations differ from job to job. */
const STAGES = [0.05, 0.1, 0.25, 0.2, 0.3, 0.1] as const;
const STAGE_SIGMA = 0.3;
/** Services record progress no more often. */
const STEP_MS = 1_000;

/** @param medianMs of the work times, which are log-normal */
export function drawWork(
  count: number,
  medianMs: number,
  progress: ProgressReporting,
  seed: number,
): readonly Work[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => {
    const ms = medianMs * drawFactor(random, SIGMA);
    const minutes = Math.ceil((ms * drawFactor(random, MINUTES_SIGMA)) / 60_000);
    const times = STAGES.map((share) => share * drawFactor(random, STAGE_SIGMA));
    const stages = progress === 'staged' ? times : [1];
    const progressAt = progress === 'none' ? () => 0 : (elapsed: number) => progressOf(stages, elapsed / ms);
    return { ms, minutes, progressAt: (elapsed) => progressAt(elapsed - (elapsed % STEP_MS)) };
  });
}

/** @param times durations of the stages, in any unit  @param fraction of the time that has passed */
function progressOf(times: readonly number[], fraction: number): number {
  const counts = times.length === 1 ? [1] : STAGES;
  let left = fraction * times.reduce((sum, time) => sum + time, 0);
  let done = 0;
  for (const [stage, time] of times.entries()) {
    const count = counts[stage] ?? 0;
    if (left < time) return Math.min(99, Math.floor(100 * (done + (count * left) / time)));
    left -= time;
    done += count;
  }
  return 99;
}

/** The time from the first start to the last end if each next job starts immediately. */
export function idealMs(work: readonly Work[], slots: number): number {
  const free = Array.from({ length: slots }, () => 0);
  for (const { ms } of work) {
    const soonest = free.indexOf(Math.min(...free));
    free[soonest] = (free[soonest] ?? 0) + ms;
  }
  return Math.max(...free);
}
