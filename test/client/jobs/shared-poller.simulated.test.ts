import { describe, expect, test } from 'vitest';
import { meanOf, waitForAll } from '../simulation/room.ts';
import { drawWork, type Work } from '../simulation/work.ts';

const SEED = 1;
const LONG = process.env.VLOC_LONG_TESTS === '1' ? 10_000 : 1_000;

/** Between two looks: never a storm, never a stall; the request itself takes 0.1 s. */
function expectCalm(pausesMs: readonly number[]): void {
  expect(Math.min(...pausesMs)).toBeGreaterThanOrEqual(1_000);
  expect(Math.max(...pausesMs)).toBeLessThanOrEqual(15_200);
}

/** Jobs of one length whose progress is the same function of their time. */
function alike(count: number, ms: number, progressAt: Work['progressAt']): readonly Work[] {
  return Array.from({ length: count }, () => ({ ms, minutes: 1, progressAt }));
}

describe('waiting for many jobs of two minutes in fifteen slots', () => {
  test.each(['staged', 'even'] as const)(
    'keeps the limits of the specification while progress is %s',
    async (telling) => {
      const { makespan, statusRequests, delaysMs, pausesMs } = await waitForAll(
        drawWork(LONG, 120_000, telling, SEED),
      );
      expect(makespan).toBeLessThanOrEqual(1.01);
      expect(statusRequests).toBeLessThanOrEqual(2.2);
      expect(meanOf(delaysMs)).toBeLessThanOrEqual(1_200);
      expectCalm(pausesMs);
    },
    60_000,
  );

  test('asks no more often where no progress is told, and loses two percent of the time', async () => {
    const { makespan, statusRequests, delaysMs, pausesMs } = await waitForAll(
      drawWork(LONG, 120_000, 'none', SEED),
    );
    expect(makespan).toBeLessThanOrEqual(1.025);
    expect(statusRequests).toBeLessThanOrEqual(2.2);
    expect(meanOf(delaysMs)).toBeLessThanOrEqual(3_000);
    expectCalm(pausesMs);
  });
});

test('jobs of seconds are looked at once a second, and cost less than a request each', async () => {
  const { makespan, statusRequests, pausesMs } = await waitForAll(drawWork(300, 8_000, 'staged', SEED));
  expect(makespan).toBeLessThanOrEqual(1.1);
  expect(statusRequests).toBeLessThanOrEqual(1);
  expectCalm(pausesMs);
});

describe('an expectation that is wrong', () => {
  test('jobs that stand at 99 percent for an hour are looked at less and less often', async () => {
    const standing = alike(15, 3_600_000, (elapsed) => Math.min(99, Math.floor(elapsed / 1_000)));
    const { statusRequests, delaysMs, pausesMs } = await waitForAll(standing);
    expect(statusRequests).toBeLessThanOrEqual(20);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(15_200);
    expectCalm(pausesMs);
  });

  test('jobs a thousand times longer than those before them make no storm', async () => {
    const short = alike(30, 2_000, () => 0);
    const long = alike(15, 2_000_000, () => 0);
    const { statusRequests, delaysMs, pausesMs } = await waitForAll([...short, ...long]);
    expect(statusRequests * 45).toBeLessThanOrEqual(200);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(15_200);
    expectCalm(pausesMs);
  });

  test('jobs a thousand times shorter than those before them are noticed all the same', async () => {
    const long = alike(15, 2_000_000, () => 0);
    const short = alike(30, 2_000, () => 0);
    const { delaysMs, pausesMs } = await waitForAll([...long, ...short]);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(15_200);
    expectCalm(pausesMs);
  });

  test('progress that leaps to its end is noticed all the same', async () => {
    const leaping = alike(45, 40_000, (elapsed) => Math.floor(elapsed / 10_000));
    const { delaysMs, pausesMs } = await waitForAll(leaping);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(15_200);
    expectCalm(pausesMs);
  });
});
