/**
 * Many jobs waited for at once: one list request a kind tells of all of them, at 0.9 of the soonest expected end.
 * Source: performance figures, "Waiting".
 */
import type { JobKind } from '../../protocol/kind-names.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import type { ClientContext } from '../context.ts';
import { describeDuration } from '../duration.ts';
import { Failure } from '../failure.ts';
import type { Job } from '../read/resources.ts';
import { pause } from '../transport/retry-loop.ts';
import { type LookAtJobs, lookAtJobs } from './look-at-jobs.ts';
import { GIVE_UP_MS, GRACE_MS } from './poll.ts';
import { growingDelay } from './poll-schedule.ts';
import { createWatch, stillRunning, type WaitOptions, type Watch } from './wait.ts';

/** A job that somebody waits for. */
interface Guest {
  readonly kind: JobKind;
  readonly id: string;
  readonly watch: Watch;
  readonly options: WaitOptions;
  /** When its time is over, on the clock of the runtime. */
  readonly endMs: number;
  readonly resolve: (job: Job) => void;
  readonly reject: (reason: unknown) => void;
  /** Stops listening to the signal. */
  readonly forget: () => void;
}

/** A list tells of several jobs at once: looking more often than this would gain nothing that anybody sees. */
const SHORTEST_MS = 1_000;

/**
 * Makes a `wait` whose callers share their requests. It works while there is somebody to wait for.
 * @throws (the promises it gives) as `waitForJob`
 */
export function createWaitingRoom(
  context: ClientContext,
  jobs: LookAtJobs,
): (kind: JobKind, id: string, options?: WaitOptions) => Promise<Job> {
  const { runtime, emit } = context;
  const guests = new Set<Guest>();
  const failingSince = new Map<JobKind, number>();
  let waker = new AbortController();
  let working = false;

  function leave(guest: Guest): boolean {
    guest.forget();
    return guests.delete(guest);
  }

  async function lookAtKind(kind: JobKind): Promise<void> {
    const present = [...guests].filter((guest) => guest.kind === kind);
    const limits: CallOptions = {
      signal: present[0]?.options.signal,
      deadline: Math.max(...present.map(({ endMs }) => endMs)) + GRACE_MS,
    };
    const ids = present.map(({ id }) => id);
    try {
      const seen = await lookAtJobs(jobs, kind, ids, limits);
      failingSince.delete(kind);
      for (const guest of present) tell(guest, seen.get(guest.id));
    } catch (error) {
      fail(kind, present, error);
    }
  }

  function tell(guest: Guest, found: Job | Failure | undefined): void {
    if (found === undefined || !guests.has(guest)) return;
    if (found instanceof Failure) {
      if (leave(guest)) guest.reject(found);
      return;
    }
    guest.watch.see(found);
    if (isTerminal(found.status) && leave(guest)) guest.resolve(found);
  }

  function fail(kind: JobKind, present: readonly Guest[], error: unknown): void {
    // The request went with one who left; the others are looked at again at once.
    if (present.some(({ options }) => options.signal?.aborted)) return;
    const now = runtime.now();
    const since = failingSince.get(kind) ?? now;
    failingSince.set(kind, since);
    const passing = error instanceof Failure && error.facts.category === 'temporary';
    if (passing && now - since < GIVE_UP_MS) {
      const delay = describeDuration(growingDelay(now - since));
      emit({ type: 'notice', code: 'POLL_FAILED', message: `${error.message}; looking again in ${delay}` });
      return;
    }
    for (const guest of present) if (leave(guest)) guest.reject(error);
  }

  function expelLate(): void {
    const now = runtime.now();
    for (const guest of [...guests]) {
      if (now >= guest.endMs && leave(guest)) guest.reject(stillRunning(guest, guest.options.timeoutMs ?? 0));
    }
  }

  function delay(): number {
    const now = runtime.now();
    const delays = [...guests].map(({ kind, watch, options, endMs }) => {
      const since = failingSince.get(kind);
      const expected = since === undefined ? Math.max(SHORTEST_MS, watch.delay()) : growingDelay(now - since);
      return Math.min(options.everyMs ?? expected, endMs - now);
    });
    return Math.max(0, Math.min(...delays));
  }

  async function work(): Promise<void> {
    working = true;
    while (guests.size > 0) {
      // Whoever came since the last look is looked at now.
      waker = new AbortController();
      const kinds = new Set([...guests].map(({ kind }) => kind));
      await Promise.all([...kinds].map(lookAtKind));
      expelLate();
      if (guests.size === 0 || waker.signal.aborted) continue;
      await pause(runtime, delay(), waker.signal).catch(() => undefined);
    }
    working = false;
  }

  return (kind, id, options = {}) => {
    const { signal, timeoutMs = Number.POSITIVE_INFINITY } = options;
    return new Promise<Job>((resolve, reject) => {
      signal?.throwIfAborted();
      const watch = createWatch(() => runtime.now(), options.onChange);
      const endMs = runtime.now() + timeoutMs;
      const abort = () => {
        if (leave(guest)) reject(signal?.reason);
        waker.abort();
      };
      const forget = () => signal?.removeEventListener('abort', abort);
      const guest: Guest = { kind, id, watch, options, endMs, resolve, reject, forget };
      signal?.addEventListener('abort', abort);
      guests.add(guest);
      waker.abort();
      // Those who come together are looked at together.
      if (!working) queueMicrotask(() => (working ? undefined : work()));
    });
  };
}
