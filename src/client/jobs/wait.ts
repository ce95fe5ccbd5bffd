import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import type { ClientContext } from '../context.ts';
import { describeDuration } from '../duration.ts';
import { Failure } from '../failure.ts';
import type { Job } from '../read/resources.ts';
import { pollUntilDone } from './poll.ts';
import { nextPollDelay, type Sighting } from './poll-schedule.ts';

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** No limit without it; 0 looks once. */
  readonly timeoutMs?: number | undefined;
  /** Looks at this pace and not by what is expected: for a service on this machine, where looking costs nothing. */
  readonly everyMs?: number | undefined;
  /** Called at the first sight and whenever status, stage or progress change. */
  readonly onChange?: ((job: Job) => void) | undefined;
}

/**
 * Waits until the job succeeded, failed or was cancelled.
 * @throws Failure: `timeout` when it is still running then; what the service refuses for good
 */
export function waitForJob(
  context: ClientContext,
  get: (limits: CallOptions) => Promise<Job>,
  job: { kind: JobKind; id: string },
  options: WaitOptions,
): Promise<Job> {
  const watch = createWatch(() => context.runtime.now(), options.onChange);
  return pollUntilDone(context, {
    read: async (limits) => watch.see(await get(limits)),
    isDone: ({ status }) => isTerminal(status),
    delayAfter: () => options.everyMs ?? watch.delay(),
    timeOver: () => stillRunning(job, options.timeoutMs ?? 0),
    signal: options.signal,
    timeoutMs: options.timeoutMs,
  });
}

export interface Watch {
  /** Tells `onChange` of what is new; gives the job back. */
  see(job: Job): Job;
  /** Milliseconds until the next look. */
  delay(): number;
}

/** Remembers how a job came forward. */
export function createWatch(now: () => number, onChange: WaitOptions['onChange']): Watch {
  let last: Job | null = null;
  let begun: Sighting = { atMs: now(), progress: 0 };
  let moved = begun;
  return {
    see(job: Job): Job {
      const sighting = { atMs: now(), progress: job.progress };
      // Time in the queue says nothing about the speed of the work.
      if (job.status !== last?.status) begun = moved = sighting;
      else if (job.progress !== last.progress) moved = sighting;
      if (last === null || hasChanged(last, job)) onChange?.(job);
      last = job;
      return job;
    },
    delay: () => nextPollDelay(begun, moved, now()),
  };
}

function hasChanged(before: Job, after: Job): boolean {
  return before.status !== after.status || before.progress !== after.progress || before.stage !== after.stage;
}

/** The failure of a wait whose time is over. */
export function stillRunning({ kind, id }: { kind: JobKind; id: string }, timeoutMs: number): Failure {
  return new Failure({
    category: 'timeout',
    code: 'STILL_RUNNING',
    message: `the job ${id} is still running after ${describeDuration(timeoutMs)}`,
    advice: `It goes on: vloc jobs wait ${KINDS[kind].path}/${id}`,
    jobId: id,
    retryable: true,
  });
}
