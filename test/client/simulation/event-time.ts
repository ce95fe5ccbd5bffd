/** A clock that jumps from one instant that somebody waits for to the next. */

export interface EventTime {
  /** Milliseconds since 1970. */
  now(): number;
  /** Rejects with the reason of the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Goes to the soonest instant that is waited for, and wakes one who does; false when there is nobody. */
  advance(): boolean;
}

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

export function createEventTime(begunMs: number): EventTime {
  let now = begunMs;
  /** The soonest last. */
  let sleepers: Sleeper[] = [];
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const giveUp = () => {
          sleepers = sleepers.filter((each) => each !== sleeper);
          reject(signal?.reason);
        };
        const wake = () => {
          signal?.removeEventListener('abort', giveUp);
          resolve();
        };
        const sleeper = { atMs: now + ms, wake };
        signal?.addEventListener('abort', giveUp, { once: true });
        // Of those with the same instant, the first who came is woken first.
        const later = sleepers.findLastIndex(({ atMs }) => atMs > sleeper.atMs);
        sleepers.splice(later + 1, 0, sleeper);
      }),
    advance() {
      const next = sleepers.pop();
      if (next === undefined) return false;
      now = Math.max(now, next.atMs);
      next.wake();
      return true;
    },
  };
}
