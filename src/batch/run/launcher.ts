/**
 * Starts jobs in the order of the batch, as many as the window and the budget allow. The decisions are pure (window.ts,
 * budget.ts); this file connects them with the clock and callers.
 */
import type { Runtime } from '../../client/index.ts';
import type { BatchItem, BatchListener, Units } from '../item.ts';
import type { Budget } from './budget.ts';
import type { Stopping } from './stopping.ts';
import { enter, grow, leave, msUntilRoom, openWindow, putBack, type SlotWindow, withdraw } from './window.ts';

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
      change(grow(window, runtime.now()));
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
      change(enter(window));
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
      leave: () => end(leave(window, runtime.now()), true),
      putBack: (askedMs) => end(putBack(window, runtime.now(), askedMs), false),
      withdraw: () => end(withdraw(window), false),
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
      change(enter(window));
      return createPlace(null);
    },
    lookAgain,
  };
}
