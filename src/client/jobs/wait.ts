import { describeDuration } from '../../base/amounts.ts';
import { type Failure, timeoutFailure } from '../../base/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import type { ClientContext } from '../context.ts';
import type { Job } from '../read/resources.ts';
import { pollUntilDone } from './poll.ts';
import { growingPause } from './poll-schedule.ts';

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
  const report = createChangeReporter(options.onChange, seen);
  return pollUntilDone(context, {
    async read(limits) {
      const next = seen ?? (await get(limits));
      seen = null;
      if (isTerminal(next.status)) options.onEnd?.();
      report(next);
      return next;
    },
    isDone: ({ status }) => isTerminal(status),
    delayAfter: (_job, elapsedMs) => options.everyMs ?? growingPause(elapsedMs),
    timeOver: () => stillRunningFailure(job, options.timeoutMs ?? 0),
    signal: options.signal,
    timeoutMs: options.timeoutMs,
  });
}

/** Null for an ended job: a replayed response may be old, and its links may have expired. */
export function stillOpen(seen: Job | undefined): Job | null {
  return seen === undefined || isTerminal(seen.status) ? null : seen;
}

/** Returns a function that reports a job when it has changed. @param seen its last known state */
export function createChangeReporter(
  onChange: WaitOptions['onChange'],
  seen: Job | null,
): (job: Job) => void {
  let last = seen;
  return (job) => {
    if (last === null || hasChanged(last, job)) onChange?.(job);
    last = job;
  };
}

function hasChanged(before: Job, after: Job): boolean {
  return before.status !== after.status || before.progress !== after.progress || before.stage !== after.stage;
}

/** The failure of a wait that timed out. */
export function stillRunningFailure({ kind, id }: { kind: JobKind; id: string }, timeoutMs: number): Failure {
  return timeoutFailure(
    'STILL_RUNNING',
    `the job ${id} is still running after ${describeDuration(timeoutMs)}`,
    `It continues; wait for it with \`vloc jobs wait ${KINDS[kind].path}/${id}\``,
    { jobId: id, retryable: true },
  );
}
