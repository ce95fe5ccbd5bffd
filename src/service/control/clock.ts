/** A clock that tests move and stop while the service runs. Nothing of it is stored: other processes keep the real time. */
import { type Cancel, type Clock, systemClock } from '../clock.ts';

export interface MovableClock extends Clock {
  /** Moves forward immediately. Calls that become due are made, the earliest first. */
  advance(ms: number): void;
  /** Stops the time. Scheduled calls wait until it is advanced or resumed. */
  freeze(): void;
  /** Continues from the time that a frozen clock shows. */
  resume(): void;
  isFrozen(): boolean;
  /** How far it is ahead of the base clock, in ms; below 0 if it was frozen for long. Null while it is frozen. */
  offset(): number | null;
}

interface Timer {
  readonly dueAt: number;
  readonly run: () => void;
  cancel: Cancel;
}

const NOTHING: Cancel = () => {};

/** @param base the time and the timers that it runs on */
export function createMovableClock(base: Clock = systemClock): MovableClock {
  let offset = 0;
  let frozenAt: number | null = null;
  const timers = new Set<Timer>();

  const now = () => frozenAt ?? base.now() + offset;
  const fire = (timer: Timer) => {
    timer.cancel();
    if (timers.delete(timer)) timer.run();
  };
  const arm = (timer: Timer) => {
    timer.cancel();
    const left = Math.max(0, timer.dueAt - now());
    timer.cancel = frozenAt !== null && left > 0 ? NOTHING : base.schedule(left, () => fire(timer));
  };
  const armAll = () => {
    for (const timer of timers) arm(timer);
  };

  return {
    now,
    schedule(delayMs, run) {
      const timer: Timer = { dueAt: now() + delayMs, run, cancel: NOTHING };
      timers.add(timer);
      arm(timer);
      return () => {
        timer.cancel();
        timers.delete(timer);
      };
    },
    advance(ms) {
      if (frozenAt === null) offset += ms;
      else frozenAt += ms;
      // A call may schedule others or cancel some of these.
      const due = [...timers].filter(({ dueAt }) => dueAt <= now());
      for (const timer of due.sort((left, right) => left.dueAt - right.dueAt)) {
        if (timers.has(timer)) fire(timer);
      }
      armAll();
    },
    freeze() {
      frozenAt ??= now();
      armAll();
    },
    resume() {
      if (frozenAt === null) return;
      offset = frozenAt - base.now();
      frozenAt = null;
      armAll();
    },
    isFrozen: () => frozenAt !== null,
    offset: () => (frozenAt === null ? offset : null),
  };
}
