import { describe, expect, test } from 'vitest';
import { meanOf, waitForAll } from '../simulation/simulate-waiting.ts';
import { drawWork, type Work } from '../simulation/work.ts';

const SEED = 1;
const LONG = process.env.VLOC_LONG_TESTS === '1' ? 10_000 : 1_000;

/** Pauses between polls are neither too short nor too long; the request itself takes 0.1 s. */
function expectModeratePauses(pausesMs: readonly number[]): void {
  expect(Math.min(...pausesMs)).toBeGreaterThanOrEqual(1_000);
  expect(Math.max(...pausesMs)).toBeLessThanOrEqual(15_200);
}

/** Jobs of the same duration and progress. */
function jobsOf(count: number, ms: number, progressAt: Work['progressAt']): readonly Work[] {
  return Array.from({ length: count }, () => ({ ms, minutes: 1, progressAt }));
}

describe('waiting for many jobs of two minutes in fifteen slots', () => {
  test.each(['staged', 'even'] as const)(
    'keeps the limits of the specification while progress is %s',
    async (progress) => {
      const { makespan, statusRequests, delaysMs, pausesMs } = await waitForAll(
        drawWork(LONG, 120_000, progress, SEED),
      );
      expect(makespan).toBeLessThanOrEqual(1.01);
      expect(statusRequests).toBeLessThanOrEqual(2.2);
      expect(meanOf(delaysMs)).toBeLessThanOrEqual(1_200);
      expectModeratePauses(pausesMs);
    },
    60_000,
  );

  test('polls no more often without progress, and loses two percent of the time', async () => {
    const { makespan, statusRequests, delaysMs, pausesMs } = await waitForAll(
      drawWork(LONG, 120_000, 'none', SEED),
    );
    expect(makespan).toBeLessThanOrEqual(1.025);
    expect(statusRequests).toBeLessThanOrEqual(2.2);
    expect(meanOf(delaysMs)).toBeLessThanOrEqual(3_000);
    expectModeratePauses(pausesMs);
  });
});

test('jobs of seconds are polled once a second, with less than one request each', async () => {
  const { makespan, statusRequests, pausesMs } = await waitForAll(drawWork(300, 8_000, 'staged', SEED));
  expect(makespan).toBeLessThanOrEqual(1.1);
  expect(statusRequests).toBeLessThanOrEqual(1);
  expectModeratePauses(pausesMs);
});

describe('a wrong expectation', () => {
  test('jobs that stay at 99 percent for an hour are polled less and less often', async () => {
    const stuck = jobsOf(15, 3_600_000, (elapsed) => Math.min(99, Math.floor(elapsed / 1_000)));
    const { statusRequests, delaysMs, pausesMs } = await waitForAll(stuck);
    expect(statusRequests).toBeLessThanOrEqual(20);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(15_200);
    expectModeratePauses(pausesMs);
  });

  test('jobs a thousand times longer than earlier ones cause no flood of requests', async () => {
    const short = jobsOf(30, 2_000, () => 0);
    const long = jobsOf(15, 2_000_000, () => 0);
    const { statusRequests, delaysMs, pausesMs } = await waitForAll([...short, ...long]);
    expect(statusRequests * 45).toBeLessThanOrEqual(200);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(15_200);
    expectModeratePauses(pausesMs);
  });

  test('the ends of jobs a thousand times shorter than earlier ones are noticed in time', async () => {
    const long = jobsOf(15, 2_000_000, () => 0);
    const short = jobsOf(30, 2_000, () => 0);
    const { delaysMs, pausesMs } = await waitForAll([...long, ...short]);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(15_200);
    expectModeratePauses(pausesMs);
  });

  test('the end of jobs whose progress jumps is noticed in time', async () => {
    const jumping = jobsOf(45, 40_000, (elapsed) => Math.floor(elapsed / 10_000));
    const { delaysMs, pausesMs } = await waitForAll(jumping);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(15_200);
    expectModeratePauses(pausesMs);
  });
});
