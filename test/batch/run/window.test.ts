import { describe, expect, it } from 'vitest';
import {
  enter,
  GROW_EVERY_MS,
  grow,
  leave,
  msUntilRoom,
  openWindow,
  putBack,
  type SlotWindow,
  withdraw,
} from '../../../src/batch/run/window.ts';

const times = (count: number, step: (window: SlotWindow) => SlotWindow, window: SlotWindow) =>
  Array.from({ length: count }).reduce<SlotWindow>((each) => step(each), window);

describe('the window', () => {
  it('has room for as many as --jobs says', () => {
    const full = times(15, enter, openWindow(15, 0));
    expect(msUntilRoom(times(14, enter, openWindow(15, 0)), 0)).toBe(0);
    expect(msUntilRoom(full, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(msUntilRoom(leave(full, 5), 5)).toBe(0);
    expect(msUntilRoom(withdraw(full), 5)).toBe(0);
  });

  it('shrinks to what is in flight when the service has no slot', () => {
    // Fifteen sent at once, of which others leave room for five.
    const refused = times(10, (window) => putBack(window, 1000, null), times(15, enter, openWindow(15, 0)));
    expect(refused).toMatchObject({ size: 5, inFlight: 5 });
    expect(msUntilRoom(refused, 1000)).toBe(GROW_EVERY_MS);
  });

  it('stays at one when others have all slots, and tries it again after the time that the service asks for', () => {
    const refused = putBack(enter(openWindow(15, 0)), 0, 10_000);
    expect(refused).toMatchObject({ size: 1, inFlight: 0 });
    expect(msUntilRoom(refused, 0)).toBe(10_000);
    expect(msUntilRoom(refused, 10_000)).toBe(0);
    expect(msUntilRoom(putBack(enter(openWindow(15, 0)), 0, null), 0)).toBe(15_000);
  });

  it('opens at once, one larger, when a job of ours ends', () => {
    const refused = putBack(times(6, enter, openWindow(15, 0)), 0, 60_000);
    const ended = leave(refused, 100);
    expect(ended).toMatchObject({ size: 6, inFlight: 4 });
    expect(msUntilRoom(ended, 100)).toBe(0);
  });

  it('grows by one each half minute, and never beyond --jobs', () => {
    const refused = putBack(times(4, enter, openWindow(5, 0)), 0, null);
    expect(grow(refused, GROW_EVERY_MS - 1).size).toBe(3);
    expect(grow(refused, GROW_EVERY_MS).size).toBe(4);
    expect(grow(refused, 100 * GROW_EVERY_MS).size).toBe(5);
    const twice = grow(grow(refused, GROW_EVERY_MS), 2 * GROW_EVERY_MS);
    expect(twice.size).toBe(5);
  });

  it('tells when it will have grown enough for those that run already', () => {
    // Six found running, and a window of three after a refusal.
    const small = putBack(times(4, enter, openWindow(15, 0)), 0, null);
    const joined = times(3, enter, small);
    expect(msUntilRoom(joined, 0)).toBe(4 * GROW_EVERY_MS);
  });
});
