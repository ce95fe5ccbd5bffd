import { describe, expect, it } from 'vitest';
import {
  enterWindow,
  GROW_EVERY_MS,
  growWindow,
  leaveWindow,
  msUntilRoom,
  openWindow,
  putBack,
  type SlotWindow,
  withdrawFromWindow,
} from '../../../src/batch/run/launcher.ts';

const times = (count: number, step: (window: SlotWindow) => SlotWindow, window: SlotWindow) =>
  Array.from({ length: count }).reduce<SlotWindow>((each) => step(each), window);

describe('the window', () => {
  it('allows as many as --jobs says', () => {
    const full = times(15, enterWindow, openWindow(15, 0));
    expect(msUntilRoom(times(14, enterWindow, openWindow(15, 0)), 0)).toBe(0);
    expect(msUntilRoom(full, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(msUntilRoom(leaveWindow(full, 5), 5)).toBe(0);
    expect(msUntilRoom(withdrawFromWindow(full), 5)).toBe(0);
  });

  it('shrinks to what is in flight if the service has no slot', () => {
    // Fifteen concurrent requests, of which others leave space for five.
    const refused = times(
      10,
      (window) => putBack(window, 1000, null),
      times(15, enterWindow, openWindow(15, 0)),
    );
    expect(refused).toMatchObject({ size: 5, inFlight: 5 });
    expect(msUntilRoom(refused, 1000)).toBe(GROW_EVERY_MS);
  });

  it('stays at one if others have all slots, and tries again after the time that the service asks for', () => {
    const refused = putBack(enterWindow(openWindow(15, 0)), 0, 10_000);
    expect(refused).toMatchObject({ size: 1, inFlight: 0 });
    expect(msUntilRoom(refused, 0)).toBe(10_000);
    expect(msUntilRoom(refused, 10_000)).toBe(0);
    expect(msUntilRoom(putBack(enterWindow(openWindow(15, 0)), 0, null), 0)).toBe(15_000);
  });

  it('opens immediately, one larger, when one of our jobs ends', () => {
    const refused = putBack(times(6, enterWindow, openWindow(15, 0)), 0, 60_000);
    const ended = leaveWindow(refused, 100);
    expect(ended).toMatchObject({ size: 6, inFlight: 4 });
    expect(msUntilRoom(ended, 100)).toBe(0);
  });

  it('grows by one each half minute, and never beyond --jobs', () => {
    const refused = putBack(times(4, enterWindow, openWindow(5, 0)), 0, null);
    expect(growWindow(refused, GROW_EVERY_MS - 1).size).toBe(3);
    expect(growWindow(refused, GROW_EVERY_MS).size).toBe(4);
    expect(growWindow(refused, 100 * GROW_EVERY_MS).size).toBe(5);
    const twice = growWindow(growWindow(refused, GROW_EVERY_MS), 2 * GROW_EVERY_MS);
    expect(twice.size).toBe(5);
  });

  it('knows when it will be large enough for the jobs that already run', () => {
    // Six found running, and a window of three after a refusal.
    const small = putBack(times(4, enterWindow, openWindow(15, 0)), 0, null);
    const joined = times(3, enterWindow, small);
    expect(msUntilRoom(joined, 0)).toBe(4 * GROW_EVERY_MS);
  });
});

describe('runs that share the slots of a service', () => {
  it('get some within minutes, although one that started before has taken all', () => {
    const shares = shareSlots({ runs: 3, slots: 4, jobMs: 120_000, lateMs: 30_000, untilMs: 30 * 60_000 });
    for (const { firstMs } of shares) expect(firstMs).toBeLessThan(10 * 60_000);
    // Of about sixty jobs in half an hour.
    for (const { jobs } of shares) expect(jobs).toBeGreaterThan(3);
  });
});

/** Half of the pause between two polls. */
const NOTICE_MS = 2_500;

interface Sharing {
  readonly runs: number;
  readonly slots: number;
  readonly jobMs: number;
  /** When all but the first start. */
  readonly lateMs: number;
  readonly untilMs: number;
}

/** Runs with endless items and one service, second by second. A run notices the end of a job some seconds later. */
function shareSlots({ runs, slots, jobMs, lateMs, untilMs }: Sharing) {
  const states = Array.from({ length: runs }, () => ({
    window: openWindow(15, 0),
    jobs: 0,
    firstMs: Number.POSITIVE_INFINITY,
    endsMs: [] as number[],
  }));
  for (let nowMs = 0; nowMs < untilMs; nowMs += 1_000) {
    for (const [place, state] of states.entries()) {
      if (place > 0 && nowMs < lateMs) continue;
      const known = state.endsMs.filter((endMs) => endMs + NOTICE_MS < nowMs);
      state.endsMs = state.endsMs.filter((endMs) => endMs + NOTICE_MS >= nowMs);
      state.window = growWindow(
        times(known.length, (window) => leaveWindow(window, nowMs), state.window),
        nowMs,
      );
      while (msUntilRoom(state.window, nowMs) === 0) {
        state.window = enterWindow(state.window);
        const taken = states.flatMap(({ endsMs }) => endsMs).filter((endMs) => endMs > nowMs).length;
        if (taken >= slots) {
          state.window = putBack(state.window, nowMs, 10_000);
          continue;
        }
        state.endsMs.push(nowMs + jobMs + 1_000 * state.jobs);
        state.jobs += 1;
        state.firstMs = Math.min(state.firstMs, nowMs);
      }
    }
  }
  return states;
}
