/**
 * Starts jobs in the order of the batch, as many as the window and the budget allow. The decisions are pure (window.ts,
 * budget.ts); this file connects them with the clock and callers.
 */
import type { Runtime } from '../../client/index.ts';
import type { Units } from '../bill.ts';
import type { BatchItem, BatchListener } from '../item.ts';
import type { Budget } from './budget.ts';
import type { Stopping } from './stopping.ts';

/** Permission for one job to run. Return it once, through one of these functions. */
export interface JobPlace {
  /** The job has ended. */
  leave(): void;
  /** The service had no slot. @param askedMs how long it asks to wait, null if it does not say */
  putBack(askedMs: number | null): void;
  /** The job was not created. */
  withdraw(): void;
}

export interface Launcher {
  /**
   * Waits until a job may be sent.
   * @param order smaller ones first
   * @throws Stopped
   */
  enter(order: number, item: BatchItem, units: Units | null): Promise<JobPlace>;
  /** A place for a job that is already running, regardless of limits. */
  join(): JobPlace;
  /** Checks again who may start, after a price has changed. */
  lookAgain(): void;
}

interface LauncherParts {
  readonly runtime: Pick<Runtime, 'now' | 'sleep'>;
  readonly budget: Budget;
  readonly stopping: Stopping;
  readonly most: number;
  readonly listen: BatchListener;
}

interface Waiting {
  readonly order: number;
  readonly item: BatchItem;
  readonly units: Units | null;
  readonly start: () => void;
  readonly giveUp: (reason: unknown) => void;
}

export function createLauncher(parts: LauncherParts): Launcher {
  const { runtime, budget, stopping, listen } = parts;
  let window = openWindow(parts.most, runtime.now());
  /** In order. Thousands may wait, so the array is changed in place. */
  let waiting: Waiting[] = [];
  let alarm: AbortController | null = null;

  function change(next: SlotWindow): void {
    const isNews = next.size !== window.size || next.inFlight !== window.inFlight;
    window = next;
    if (isNews) listen({ type: 'window', size: window.size, inFlight: window.inFlight });
  }

  function lookAgain(): void {
    alarm?.abort();
    alarm = null;
    for (;;) {
      const [first] = waiting;
      if (first === undefined || stopping.reason !== null) return;
      change(growWindow(window, runtime.now()));
      const ms = msUntilRoom(window, runtime.now());
      if (ms > 0) {
        setAlarm(ms);
        return;
      }
      const permission = budget.judge(first.item.kind, first.units);
      if (permission === 'wait') return;
      if (permission === 'stop' || permission === 'unpriced') {
        stopping.stop(permission === 'stop' ? 'max-credits' : 'price-unknown');
        return;
      }
      waiting.shift();
      budget.begin(first.item.key, first.item.kind, first.units);
      change(enterWindow(window));
      first.start();
    }
  }

  function setAlarm(ms: number): void {
    if (!Number.isFinite(ms)) return;
    const own = new AbortController();
    alarm = own;
    runtime.sleep(ms, own.signal).then(lookAgain, () => undefined);
  }

  function createPlace(item: BatchItem | null): JobPlace {
    let isOver = false;
    const end = (next: SlotWindow, wasMade: boolean) => {
      if (isOver) return;
      isOver = true;
      change(next);
      if (!wasMade && item !== null) budget.drop(item.key);
      // The failure of this job is judged first: it may stop the run.
      queueMicrotask(lookAgain);
    };
    return {
      leave: () => end(leaveWindow(window, runtime.now()), true),
      putBack: (askedMs) => end(putBack(window, runtime.now(), askedMs), false),
      withdraw: () => end(withdrawFromWindow(window), false),
    };
  }

  stopping.launching.addEventListener('abort', () => {
    alarm?.abort();
    for (const each of waiting) each.giveUp(stopping.launching.reason);
    waiting = [];
  });

  return {
    async enter(order, item, units) {
      stopping.launching.throwIfAborted();
      await new Promise<void>((start, giveUp) => {
        const before = waiting.findLastIndex((each) => each.order <= order);
        waiting.splice(before + 1, 0, { order, item, units, start, giveUp });
        lookAgain();
      });
      return createPlace(item);
    },
    join() {
      change(enterWindow(window));
      return createPlace(null);
    },
    lookAgain,
  };
}

export interface SlotWindow {
  /** The limit of --jobs. */
  readonly most: number;
  /** The limit that the service currently seems to have; at least 1. */
  readonly size: number;
  readonly inFlight: number;
  /** When the size last changed, in ms of the clock. */
  readonly sinceMs: number;
  /** No job is sent before this time, unless one of ours ends. */
  readonly closedUntilMs: number;
}

/** How often one more job is tried although none of ours has ended, because other processes use the same 15 slots. */
export const GROW_EVERY_MS = 30_000;

/** The wait if the service has no slot and does not say until when: as long as the slowest status poll. */
const CLOSED_MS = 15_000;

export function openWindow(most: number, nowMs: number): SlotWindow {
  return { most, size: most, inFlight: 0, sinceMs: nowMs, closedUntilMs: nowMs };
}

/** A job is sent, or found running. */
export function enterWindow(window: SlotWindow): SlotWindow {
  return { ...window, inFlight: window.inFlight + 1 };
}

/** A job has ended: its slot is free, and one more is tried. */
export function leaveWindow(window: SlotWindow, nowMs: number): SlotWindow {
  const inFlight = window.inFlight - 1;
  return { ...resize(window, window.size + 1, nowMs), inFlight, closedUntilMs: nowMs };
}

/** No job was created, which says nothing about slots. */
export function withdrawFromWindow(window: SlotWindow): SlotWindow {
  return { ...window, inFlight: window.inFlight - 1 };
}

/**
 * The service had no slot for a job.
 * @param askedMs how long it asks to wait; null when it does not say
 */
export function putBack(window: SlotWindow, nowMs: number, askedMs: number | null): SlotWindow {
  const inFlight = window.inFlight - 1;
  const closedUntilMs = nowMs + (askedMs ?? CLOSED_MS);
  return { ...resize(window, inFlight, nowMs), inFlight, closedUntilMs, sinceMs: nowMs };
}

/** Grows the window by one for each half minute. */
export function growWindow(window: SlotWindow, nowMs: number): SlotWindow {
  const steps = Math.floor((nowMs - window.sinceMs) / GROW_EVERY_MS);
  if (steps < 1 || window.size >= window.most) return window;
  return {
    ...window,
    size: Math.min(window.most, window.size + steps),
    sinceMs: window.sinceMs + steps * GROW_EVERY_MS,
  };
}

/** Milliseconds until one more job may be sent; 0 is now, Infinity is not before a job ends. */
export function msUntilRoom(window: SlotWindow, nowMs: number): number {
  const closedMs = Math.max(0, window.closedUntilMs - nowMs);
  if (window.inFlight < window.size) return closedMs;
  // Time alone grows the window up to --jobs only.
  if (window.inFlight >= window.most) return Number.POSITIVE_INFINITY;
  const steps = window.inFlight + 1 - window.size;
  return Math.max(closedMs, window.sinceMs + steps * GROW_EVERY_MS - nowMs);
}

function resize(window: SlotWindow, wanted: number, nowMs: number): SlotWindow {
  const size = Math.max(1, Math.min(window.most, wanted));
  return size === window.size ? window : { ...window, size, sinceMs: nowMs };
}
