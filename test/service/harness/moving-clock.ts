import type { Cancel, Clock } from '../../../src/service/index.ts';

export interface MovingClock extends Clock {
  /** Goes forward at once; what falls due on the way is called. */
  advance(ms: number): void;
}

interface Timer {
  readonly dueAt: number;
  readonly run: () => void;
  handle: NodeJS.Timeout;
}

/** A clock that runs with the real one and can be put forward. */
export function createMovingClock(): MovingClock {
  let offset = 0;
  const timers = new Set<Timer>();
  const now = () => Date.now() + offset;
  const fire = (timer: Timer) => {
    clearTimeout(timer.handle);
    if (timers.delete(timer)) timer.run();
  };
  return {
    now,
    schedule(delayMs, run): Cancel {
      const timer: Timer = {
        dueAt: now() + delayMs,
        run,
        handle: setTimeout(() => fire(timer), delayMs),
      };
      timers.add(timer);
      return () => {
        clearTimeout(timer.handle);
        timers.delete(timer);
      };
    },
    advance(ms) {
      offset += ms;
      const due = [...timers].filter((timer) => timer.dueAt <= now());
      for (const timer of due.sort((left, right) => left.dueAt - right.dueAt)) fire(timer);
    },
  };
}
