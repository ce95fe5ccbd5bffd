import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ProgressSample } from '../../../src/client/jobs/poll-schedule.ts';
import {
  addSample,
  delayFor,
  forecastByProgress,
  type JobForecast,
  longestPause,
} from '../../../src/client/jobs/poll-schedule.ts';

/** Sightings at these seconds and percents. */
function courseOf(
  ...seen: readonly (readonly [seconds: number, progress: number])[]
): readonly ProgressSample[] {
  return seen.reduce<readonly ProgressSample[]>(
    (course, [seconds, progress]) => addSample(course, { atMs: seconds * 1000, progress }),
    [],
  );
}

function endOf(course: readonly ProgressSample[], nowSeconds = 0): number | undefined {
  const end = forecastByProgress(course, nowSeconds * 1000)?.endMs;
  return end === undefined ? undefined : end / 1000;
}

describe('the expected end of a job', () => {
  test('follows from its mean speed', () => {
    expect(endOf(courseOf([0, 0], [25, 25]))).toBe(100);
    expect(endOf(courseOf([10, 20], [30, 60]))).toBe(50);
  });

  test('is earlier if the last tenth went faster, and not later if it went slower', () => {
    expect(endOf(courseOf([0, 0], [50, 25], [55, 50]))).toBe(65);
    expect(endOf(courseOf([0, 0], [25, 40], [85, 60]))).toBeCloseTo(85 + 40 * (85 / 60));
  });

  test('is unknown before it has made progress, and after its work started over', () => {
    expect(endOf([])).toBeUndefined();
    expect(endOf(courseOf([0, 10]))).toBeUndefined();
    expect(endOf(courseOf([0, 10], [50, 10]))).toBeUndefined();
    expect(endOf(courseOf([0, 0], [50, 60], [60, 5]))).toBeUndefined();
    expect(endOf(courseOf([0, 0], [50, 60], [60, 5], [70, 10]))).toBe(250);
  });

  test('needs few observations, however often it was seen', () => {
    const course = courseOf(...Array.from({ length: 99 }, (_, at) => [at, at] as const));
    expect(course.length).toBeLessThanOrEqual(12);
    expect(endOf(course)).toBe(100);
  });

  test('of a stalled job: its work takes at least as long again as it already has', () => {
    const course = courseOf([0, 0], [50, 50]);
    expect(forecastByProgress(course, 60_000)?.totalMs).toBe(100_000);
    expect(forecastByProgress(course, 900_000)?.totalMs).toBe(900_000);
  });
});

describe('the next poll of a job', () => {
  test('is due after nine tenths of the remaining time', () => {
    const forecast: JobForecast = { endMs: 20_000, totalMs: 20_000, by: 'progress' };
    expect(delayFor(forecast, 10_000, 10_000)).toBe(9_000);
  });

  test('is due after 1 to 15 s, whatever was expected', () => {
    const instant = fc.integer({ min: -(10 ** 9), max: 10 ** 9 });
    fc.assert(
      fc.property(instant, instant, fc.nat(10 ** 9), fc.boolean(), (endMs, nowMs, elapsedMs, isKnown) => {
        const forecast: JobForecast | null = isKnown ? { endMs, totalMs: 1, by: 'others' } : null;
        const delay = delayFor(forecast, elapsedMs, nowMs);
        expect(delay).toBeGreaterThanOrEqual(1_000);
        expect(delay).toBeLessThanOrEqual(15_000);
      }),
    );
  });

  test('is due later and later for an overdue job', () => {
    const forecast: JobForecast = { endMs: 0, totalMs: 10_000, by: 'progress' };
    expect([1_000, 8_000, 20_000, 600_000].map((now) => delayFor(forecast, now, now))).toEqual([
      1_000, 4_000, 10_000, 15_000,
    ]);
  });
});

describe('the longest pause between two polls', () => {
  const jobs = (count: number, totalMs: number, by: JobForecast['by']): readonly JobForecast[] =>
    Array.from({ length: count }, () => ({ endMs: 0, totalMs, by }));

  test('is the time in which one of the jobs ends, half of it if no progress is reported', () => {
    expect(longestPause(jobs(15, 120_000, 'progress'))).toBeCloseTo(8_000);
    expect(longestPause(jobs(15, 120_000, 'others'))).toBeCloseTo(4_000);
    expect(longestPause([...jobs(5, 100_000, 'progress'), ...jobs(5, 100_000, 'others')])).toBeCloseTo(
      6_667,
      0,
    );
  });

  test('is 1 to 15 s', () => {
    expect(longestPause(jobs(15, 100, 'others'))).toBe(1_000);
    expect(longestPause(jobs(15, 10 ** 7, 'progress'))).toBe(15_000);
    expect(longestPause([])).toBe(15_000);
  });
});
