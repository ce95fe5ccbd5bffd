import { describeDuration } from '../../errors/amounts.ts';
import { Failure } from '../../errors/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import type { ClientContext } from '../context.ts';
import type { Job } from '../read/resources.ts';
import { pollUntilDone } from './poll.ts';
import type { WorkTimes } from './poll-schedule.ts';
import {
  addSample,
  forecastByProgress,
  type JobForecast,
  nextPollDelay,
  type ProgressSample,
} from './poll-schedule.ts';

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** No limit without it; 0 polls once. */
  readonly timeoutMs?: number | undefined;
  /** Fixed interval between polls: for a service on this machine, where polling costs nothing. */
  readonly everyMs?: number | undefined;
  /** Called for the first state and whenever status, stage or progress changes; not for `seen`. */
  readonly onChange?: ((job: Job) => void) | undefined;
  /** The job from a response that just arrived: the first poll then waits until it may have changed. */
  readonly seen?: Job | undefined;
  /** Called once it is known to have ended, which may be before its result is read. */
  readonly onEnd?: (() => void) | undefined;
}

/**
 * Waits until the job succeeded, failed or was cancelled.
 * @throws Failure: `timeout` when it is still running then; what the service refuses permanently
 */
export function waitForJob(
  context: ClientContext,
  get: (limits: CallOptions) => Promise<Job>,
  job: { kind: JobKind; id: string },
  options: WaitOptions,
): Promise<Job> {
  let seen = stillOpen(options.seen);
  const watch = trackJob(() => context.runtime.now(), options.onChange, seen);
  return pollUntilDone(context, {
    async read(limits) {
      const next = seen ?? (await get(limits));
      seen = null;
      if (isTerminal(next.status)) options.onEnd?.();
      return watch.see(next);
    },
    isDone: ({ status }) => isTerminal(status),
    delayAfter: () => options.everyMs ?? watch.delay(),
    timeOver: () => stillRunning(job, options.timeoutMs ?? 0),
    signal: options.signal,
    timeoutMs: options.timeoutMs,
  });
}

/** Null for an ended job: a replayed response may be old, and its links may have expired. */
export function stillOpen(seen: Job | undefined): Job | null {
  return seen === undefined || isTerminal(seen.status) ? null : seen;
}

export interface JobTracker {
  /** Calls `onChange` if the job has changed; returns the job. */
  see(job: Job): Job;
  /** Milliseconds until the next poll, for a job that is polled alone. */
  delay(): number;
  /** Milliseconds for which it was observed in its present state. */
  elapsedMs(): number;
  /** From its own progress, else from the durations of other jobs; null without either. */
  forecast(others: WorkTimes): JobForecast | null;
  /** Adds the duration of a job that succeeded to those of the others. */
  tell(others: WorkTimes): void;
}

/** Tracks the progress of one job. @param seen its last known state */
export function trackJob(
  now: () => number,
  onChange: WaitOptions['onChange'],
  seen: Job | null = null,
): JobTracker {
  let last = seen;
  let begun: ProgressSample = { atMs: now(), progress: seen?.progress ?? 0 };
  let course: readonly ProgressSample[] = [begun];
  let quantity = seen?.billing?.quantity ?? null;
  /** Milliseconds for which it was observed in progress; null when it was not. */
  let workedMs: number | null = null;
  const elapsedMs = () => now() - begun.atMs;
  return {
    see(job: Job): Job {
      const sighting = { atMs: now(), progress: job.progress };
      workedMs = last?.status === 'processing' ? elapsedMs() : null;
      // Time in the queue says nothing about the speed of the work.
      if (job.status !== last?.status) course = [sighting];
      else course = addSample(course, sighting);
      begun = course[0] ?? sighting;
      quantity = job.billing?.quantity ?? quantity;
      if (last === null || hasChanged(last, job)) onChange?.(job);
      last = job;
      return job;
    },
    elapsedMs,
    delay: () => nextPollDelay(begun, course.at(-1) ?? begun, now()),
    forecast(others) {
      const byProgress = forecastByProgress(course, now());
      if (byProgress !== null || last === null) return byProgress;
      const worked = last.status === 'processing' ? elapsedMs() : 0;
      const totalMs = others.expect(last.object, quantity, worked);
      return totalMs === null ? null : { endMs: now() + totalMs - worked, totalMs, by: 'others' };
    },
    tell(others) {
      if (last?.status !== 'succeeded') return;
      const ms = statedWorkMs(last) ?? workedMs;
      if (ms !== null && ms > 0) others.add(last.object, ms, quantity);
    },
  };
}

/** The time between begin and end of the work, by the clock of the service; null when it states neither. */
function statedWorkMs({ started_at, finished_at }: Job): number | null {
  const ms = Date.parse(finished_at ?? '') - Date.parse(started_at ?? '');
  return Number.isNaN(ms) ? null : ms;
}

function hasChanged(before: Job, after: Job): boolean {
  return before.status !== after.status || before.progress !== after.progress || before.stage !== after.stage;
}

/** The failure of a wait that timed out. */
export function stillRunning({ kind, id }: { kind: JobKind; id: string }, timeoutMs: number): Failure {
  return new Failure({
    category: 'timeout',
    code: 'STILL_RUNNING',
    message: `the job ${id} is still running after ${describeDuration(timeoutMs)}`,
    advice: `It continues; wait for it with \`vloc jobs wait ${KINDS[kind].path}/${id}\``,
    jobId: id,
    retryable: true,
  });
}
