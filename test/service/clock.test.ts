import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { repeatEvery, systemClock } from '../../src/service/clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a wait longer than Node’s timers can count ends when it should', () => {
  const run = vi.fn();
  const days = 86_400_000;
  systemClock.schedule(60 * days, run);
  vi.advanceTimersByTime(60 * days - 1);
  expect(run).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(run).toHaveBeenCalledOnce();
});

test('a cancelled wait does not end, not even in its later parts', () => {
  const run = vi.fn();
  const cancel = systemClock.schedule(2 ** 31, run);
  vi.advanceTimersByTime(2 ** 31 - 1);
  cancel();
  vi.advanceTimersByTime(10);
  expect(run).not.toHaveBeenCalled();
});

test('a repeated call stops when it is cancelled', () => {
  const run = vi.fn();
  const cancel = repeatEvery(systemClock, 1000, run);
  vi.advanceTimersByTime(3500);
  expect(run).toHaveBeenCalledTimes(3);
  cancel();
  vi.advanceTimersByTime(5000);
  expect(run).toHaveBeenCalledTimes(3);
});
