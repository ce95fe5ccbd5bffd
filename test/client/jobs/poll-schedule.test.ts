import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextPollDelay } from '../../../src/client/jobs/poll-schedule.ts';

/** Polls a job whose progress grows evenly, and returns the times of the polls and of its noticed end. */
function simulate(durationMs: number): { looks: number; lateMs: number } {
  let now = 0;
  let looks = 0;
  const begun = { atMs: 0, progress: 0 };
  let moved = begun;
  while (now < durationMs) {
    looks += 1;
    const progress = Math.floor((100 * now) / durationMs);
    if (progress !== moved.progress) moved = { atMs: now, progress };
    now += nextPollDelay(begun, moved, now);
  }
  return { looks: looks + 1, lateMs: now - durationMs };
}

test.each([
  [2_000, 6, 600],
  [8_000, 9, 1_100],
  [30_000, 12, 1_100],
  [120_000, 18, 1_100],
  // The longest delay is the most by which a look can miss.
  [1_800_000, 130, 15_000],
])('a job of %i ms is polled at most %i times and its end noticed within %i ms', (duration, most, late) => {
  const { looks, lateMs } = simulate(duration);
  expect(looks).toBeLessThanOrEqual(most);
  expect(lateMs).toBeLessThanOrEqual(late);
});

test('without progress the pauses grow from half a second to fifteen', () => {
  const nothing = { atMs: 0, progress: 0 };
  const delays = [0, 2_000, 10_000, 60_000, 600_000].map((now) => nextPollDelay(nothing, nothing, now));
  expect(delays).toEqual([500, 1_000, 5_000, 15_000, 15_000]);
});

test('a job that stalls past its expected end is polled less and less often', () => {
  const begun = { atMs: 0, progress: 0 };
  const moved = { atMs: 99_000, progress: 99 };
  expect(nextPollDelay(begun, moved, 100_000)).toBe(1_000);
  expect(nextPollDelay(begun, moved, 110_000)).toBe(5_000);
  expect(nextPollDelay(begun, moved, 200_000)).toBe(15_000);
});

test('every pause is between half a second and fifteen, from one second on once the job is five seconds old', () => {
  const progress = fc.integer({ min: 0, max: 100 });
  const time = fc.integer({ min: 0, max: 10 ** 8 });
  fc.assert(
    fc.property(progress, progress, time, time, (first, last, movedAt, later) => {
      const now = movedAt + later;
      const delay = nextPollDelay({ atMs: 0, progress: first }, { atMs: movedAt, progress: last }, now);
      expect(delay).toBeGreaterThanOrEqual(now < 5_000 ? 500 : 1_000);
      expect(delay).toBeLessThanOrEqual(15_000);
    }),
  );
});
