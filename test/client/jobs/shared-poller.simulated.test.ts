import { describe, expect, test } from 'vitest';
import { meanOf, waitForAll } from '../simulation/simulate-waiting.ts';
import { drawWork, type Work } from '../simulation/work.ts';

const SEED = 1;
const LONG = process.env.VLOC_LONG_TESTS === '1' ? 10_000 : 500;

/** Pauses between polls are neither too short nor too long; the request itself takes 0.1 s. */
function expectModeratePauses(pausesMs: readonly number[]): void {
  expect(Math.min(...pausesMs)).toBeGreaterThanOrEqual(1_000);
  expect(Math.max(...pausesMs)).toBeLessThanOrEqual(5_900);
}

/** Jobs of the same duration and progress. */
function jobsOf(count: number, ms: number, progressAt: Work['progressAt']): readonly Work[] {
  return Array.from({ length: count }, () => ({ ms, minutes: 1, progressAt }));
}

describe('waiting for many jobs of two minutes in fifteen slots', () => {
  test('keeps the limits of the specification', async () => {
    const { makespan, statusRequests, delaysMs, pausesMs } = await waitForAll(
      drawWork(LONG, 120_000, 'none', SEED),
    );
    expect(makespan).toBeLessThanOrEqual(1.021);
    expect(statusRequests).toBeLessThanOrEqual(2.1);
    expect(meanOf(delaysMs)).toBeLessThanOrEqual(3_000);
    expectModeratePauses(pausesMs);
  }, 60_000);
});

test('jobs of seconds are polled once a second, with less than one request each', async () => {
  const { makespan, statusRequests, pausesMs } = await waitForAll(drawWork(300, 8_000, 'staged', SEED));
  expect(makespan).toBeLessThanOrEqual(1.1);
  expect(statusRequests).toBeLessThanOrEqual(1);
  expectModeratePauses(pausesMs);
});

describe('a wrong expectation', () => {
  test('jobs a thousand times longer than earlier ones cause no flood of requests', async () => {
    const short = jobsOf(30, 2_000, () => 0);
    const long = jobsOf(15, 2_000_000, () => 0);
    const { statusRequests, delaysMs, pausesMs } = await waitForAll([...short, ...long]);
    expect(statusRequests * 45).toBeLessThanOrEqual(600);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(5_900);
    expectModeratePauses(pausesMs);
  });

  test('the ends of jobs a thousand times shorter than earlier ones are noticed in time', async () => {
    const long = jobsOf(15, 2_000_000, () => 0);
    const short = jobsOf(30, 2_000, () => 0);
    const { delaysMs, pausesMs } = await waitForAll([...long, ...short]);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(5_900);
    expectModeratePauses(pausesMs);
  });
});
