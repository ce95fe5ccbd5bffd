/**
 * Waits for many jobs together: one list request per kind covers all of them, at 0.9 of the soonest expected end.
 * Source: performance figures, "Waiting".
 */

import { describeDuration } from '../../errors/amounts.ts';
import { Failure } from '../../errors/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import type { ClientContext } from '../context.ts';
import type { Job } from '../read/resources.ts';
import { pause } from '../transport/retry.ts';
import { type Findings, type LookAtJobs, lookAtJobs } from './look-at-jobs.ts';
import { GIVE_UP_MS, GRACE_MS, gaveUp, isPassing } from './poll.ts';
import {
  createWorkTimes,
  delayFor,
  growingDelay,
  LONGEST_MS,
  longestPause,
  SHORTEST_MS,
  type WorkTimes,
} from './poll-schedule.ts';
import { createWatch, stillOpen, stillRunning, type WaitOptions, type Watch } from './wait.ts';

/** One who waits, and what is owed to it. */
interface Waiting extends Guest {
  readonly resolve: (job: Job) => void;
  readonly reject: (reason: unknown) => void;
  /** Stops listening to the signal. */
  readonly forget: () => void;
}

/**
 * Makes a `wait` whose callers share their requests. It works while there is somebody to wait for.
 * @throws (the promises it gives) as `waitForJob`
 */
export function createWaitingRoom(
  context: ClientContext,
  jobs: LookAtJobs,
): (kind: JobKind, id: string, options?: WaitOptions) => Promise<Job> {
  const { runtime, emit } = context;
  const guests = new Set<Waiting>();
  const times = createWorkTimes();
  const failingSince = new Map<JobKind, number>();
  let lookedAtMs = runtime.now();
  let waker = new AbortController();
  let working = false;

  function leave(guest: Waiting): boolean {
    guest.forget();
    return guests.delete(guest);
  }

  async function lookAtKind(kind: JobKind): Promise<void> {
    const present = [...guests].filter((guest) => guest.kind === kind);
    const limits: CallOptions = {
      signal: present[0]?.options.signal,
      deadline: Math.max(...present.map(({ endMs }) => endMs)) + GRACE_MS,
    };
    for (const guest of present) guest.isUnseen = false;
    const now = runtime.now();
    const wanted = present.map(({ id, dueMs }) => ({ id, isDue: present.length === 1 || dueMs <= now }));
    const findings: Findings = {
      ended(id) {
        for (const guest of waitingFor(present, id)) tellEnd(guest);
      },
      found(id, found) {
        for (const guest of waitingFor(present, id)) tell(guest, found);
      },
    };
    try {
      await lookAtJobs(jobs, kind, wanted, limits, findings);
      failingSince.delete(kind);
    } catch (error) {
      fail(kind, present, error);
    }
  }

  /** Those of them who are still there. */
  function waitingFor(present: readonly Waiting[], id: string): readonly Waiting[] {
    return present.filter((guest) => guest.id === id && guests.has(guest));
  }

  function tell(guest: Waiting, found: Job | Failure): void {
    if (found instanceof Failure) {
      if (leave(guest)) guest.reject(found);
      return;
    }
    if (isTerminal(found.status)) tellEnd(guest);
    guest.watch.see(found);
    guest.watch.tell(times);
    planNextLook(guest, times, runtime.now());
    if (isTerminal(found.status) && leave(guest)) guest.resolve(found);
  }

  function tellEnd(guest: Waiting): void {
    if (!guest.hasEnded) guest.options.onEnd?.();
    guest.hasEnded = true;
  }

  function fail(kind: JobKind, present: readonly Waiting[], error: unknown): void {
    // The request went with one who left; the others are looked at again at once.
    if (present.some(({ options }) => options.signal?.aborted)) {
      for (const guest of present) guest.isUnseen = true;
      return;
    }
    const now = runtime.now();
    const since = failingSince.get(kind) ?? now;
    failingSince.set(kind, since);
    const passing = isPassing(error);
    if (passing && now - since < GIVE_UP_MS) {
      const delay = growingDelay(now - since);
      for (const guest of present) guest.dueMs = now + delay;
      const message = `${error.message}; looking again in ${describeDuration(delay)}`;
      emit({ type: 'notice', code: 'POLL_FAILED', message });
      return;
    }
    const reason = passing ? gaveUp(error) : error;
    for (const guest of present) if (leave(guest)) guest.reject(reason);
  }

  function expelLate(): void {
    const now = runtime.now();
    for (const guest of [...guests]) {
      if (now >= guest.endMs && leave(guest)) guest.reject(stillRunning(guest, guest.options.timeoutMs ?? 0));
    }
  }

  /** True when somebody came or left meanwhile, so that it is to be thought about again. */
  async function isWoken(ms: number): Promise<boolean> {
    const { signal } = waker;
    await pause(runtime, ms, signal).catch(() => undefined);
    return signal.aborted;
  }

  async function work(): Promise<void> {
    working = true;
    while (guests.size > 0) {
      waker = new AbortController();
      const isFailing = ({ kind }: Guest) => failingSince.has(kind);
      const ms = msUntilLook([...guests], { times, isFailing, lookedAtMs, nowMs: runtime.now() });
      if (ms > 0 && (await isWoken(ms))) continue;
      const kinds = new Set([...guests].map(({ kind }) => kind));
      await Promise.all([...kinds].map(lookAtKind));
      lookedAtMs = runtime.now();
      expelLate();
    }
    working = false;
  }

  return (kind, id, options = {}) => {
    const { signal, timeoutMs = Number.POSITIVE_INFINITY } = options;
    return new Promise<Job>((resolve, reject) => {
      signal?.throwIfAborted();
      const now = runtime.now();
      const seen = stillOpen(options.seen);
      const watch = createWatch(() => runtime.now(), options.onChange, seen);
      const abort = () => {
        if (leave(guest)) reject(signal?.reason);
        waker.abort();
      };
      const forget = () => signal?.removeEventListener('abort', abort);
      const facts = { kind, id, watch, options, endMs: now + timeoutMs, dueMs: now };
      const guest: Waiting = { ...facts, isUnseen: seen === null, hasEnded: false, resolve, reject, forget };
      if (seen !== null) planNextLook(guest, times, now);
      signal?.addEventListener('abort', abort);
      guests.add(guest);
      waker.abort();
      // Those who come together are looked at together.
      if (!working) queueMicrotask(() => (working ? undefined : work()));
    });
  };
}

/** A job that somebody waits for. Times on the clock of the runtime. */
export interface Guest {
  readonly kind: JobKind;
  readonly id: string;
  readonly watch: Watch;
  readonly options: WaitOptions;
  /** When its time is over. */
  readonly endMs: number;
  /** When it is worth a request of its own. */
  dueMs: number;
  /** To be looked at now: nobody has done so yet. */
  isUnseen: boolean;
  /** Known to have ended, and not yet read. */
  hasEnded: boolean;
}

/** Sets the next look at a guest that was just seen. */
export function planNextLook(guest: Guest, times: WorkTimes, nowMs: number): void {
  const { watch, options } = guest;
  guest.dueMs = nowMs + (options.everyMs ?? delayFor(watch.forecast(times), watch.elapsedMs(), nowMs));
}

interface Circumstances {
  readonly times: WorkTimes;
  /** True for those whose looks fail at present. */
  isFailing(guest: Guest): boolean;
  readonly lookedAtMs: number;
  readonly nowMs: number;
}

/** Milliseconds until the next look at all of them, which is one list request a kind. */
export function msUntilLook(
  guests: readonly Guest[],
  { times, isFailing, lookedAtMs, nowMs }: Circumstances,
): number {
  if (guests.some(({ isUnseen }) => isUnseen)) return 0;
  const soonest = (instants: readonly number[]) => Math.min(...instants) - nowMs;
  const due = soonest(guests.map(({ dueMs }) => dueMs));
  const foretold = guests.filter((guest) => guest.options.everyMs === undefined && !isFailing(guest));
  const forecasts = foretold.flatMap(({ watch }) => watch.forecast(times) ?? []);
  const latest = forecasts.length === 0 ? due : lookedAtMs + longestPause(forecasts) - nowMs;
  // Jobs that are due one after the other are looked at together.
  const paces = guests.flatMap(({ options }) => options.everyMs ?? []);
  const earliest = lookedAtMs + Math.min(SHORTEST_MS, ...paces) - nowMs;
  // A clock that was set back must not make anybody wait.
  const longest = Math.max(LONGEST_MS, ...paces);
  const wanted = Math.min(Math.max(earliest, Math.min(due, latest)), longest);
  return Math.max(0, Math.min(wanted, soonest(guests.map(({ endMs }) => endMs))));
}
