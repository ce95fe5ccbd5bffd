/** A virtual clock that advances to the next time a sleeper waits for. */

export interface EventTime {
  /** Milliseconds since 1970. */
  now(): number;
  /** Rejects with the reason of the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Advances to the earliest wake-up time and wakes one sleeper; false if nobody sleeps. */
  advance(): boolean;
}

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

export function createEventTime(begunMs: number): EventTime {
  let now = begunMs;
  /** The earliest is the last. */
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
        // Sleepers with the same wake-up time wake in the order in which they fell asleep.
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
