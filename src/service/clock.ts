/** The clock of the service, passed in so that a test can move it. */

/** Cancels a scheduled call. Does nothing if it has already run. */
export type Cancel = () => void;

export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Calls `run` once, `delayMs` from now. */
  schedule(delayMs: number, run: () => void): Cancel;
}

/** Node's timers use 31 bits: a longer wait would end immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, run) {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number) => {
      const stepMs = Math.min(leftMs, LONGEST_TIMER_MS);
      timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : run()), stepMs);
    };
    wait(delayMs);
    return () => clearTimeout(timer);
  },
};

/** Calls `run` repeatedly, `intervalMs` after each call ended, until cancelled. */
export function repeatEvery(clock: Clock, intervalMs: number, run: () => void): Cancel {
  let cancelled = false;
  let cancelNext: Cancel;
  const again = () => {
    cancelNext = clock.schedule(intervalMs, () => {
      run();
      // The call itself may have cancelled the repetition.
      if (!cancelled) again();
    });
  };
  again();
  return () => {
    cancelled = true;
    cancelNext();
  };
}

/**
 * Repeats work, never twice at a time: what becomes due meanwhile follows immediately. Returns a function that
 * stops it and waits for its end.
 */
export function repeatWork(clock: Clock, intervalMs: number, work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | null = null;
  let isDue = false;
  const run = async () => {
    while (isDue) {
      isDue = false;
      await work();
    }
    underWay = null;
  };
  const cancel = repeatEvery(clock, intervalMs, () => {
    isDue = true;
    underWay ??= run();
  });
  return async () => {
    cancel();
    isDue = false;
    await underWay;
  };
}

/** Resolves after this many ms, or when the signal aborts. */
export function sleepFor(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const cancel = clock.schedule(ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    const stop = () => {
      cancel();
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** RFC 3339 in UTC with milliseconds. Source: contract, "Identifiers and time". */
export function formatInstant(ms: number): string {
  return new Date(ms).toISOString();
}
