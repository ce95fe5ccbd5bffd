import { describe, expect, test } from 'vitest';
import { createWorkTimes } from '../../../src/client/jobs/poll-schedule.ts';
import { msUntilPoll, type PolledJob, planNextPoll } from '../../../src/client/jobs/shared-poller.ts';
import { trackJob, type WaitOptions } from '../../../src/client/jobs/wait.ts';

const times = createWorkTimes();
const isFailing = () => false;

function waiter(dueMs: number, options: WaitOptions = {}): PolledJob {
  const tracker = trackJob(() => 0, undefined);
  const facts = { kind: 'dubbing', id: 'dub', endMs: Number.POSITIVE_INFINITY } as const;
  return { ...facts, tracker, options, dueMs, isNew: false, hasEnded: false };
}

function msUntil(nowMs: number, polledAtMs: number, ...waiters: readonly PolledJob[]): number {
  return msUntilPoll(waiters, { times, isFailing, polledAtMs, nowMs });
}

describe('the next poll of several jobs', () => {
  test('is due when the first of them is due', () => {
    expect(msUntil(1_000, 0, waiter(9_000), waiter(4_000))).toBe(3_000);
  });

  test('is due immediately for one that nobody has seen', () => {
    expect(msUntil(1_000, 900, waiter(9_000), { ...waiter(9_000), isNew: true })).toBe(0);
  });

  test('is due a second after the last one at the earliest, so that jobs due shortly after each other share it', () => {
    expect(msUntil(10_200, 10_000, waiter(10_300), waiter(10_700))).toBe(800);
    expect(msUntil(10_200, 10_000, waiter(5_000))).toBe(800);
  });

  test('is due as often as a caller asks, and no more often', () => {
    expect(msUntil(10_000, 10_000, waiter(10_100, { everyMs: 100 }))).toBe(100);
    expect(msUntil(10_000, 10_000, waiter(70_000, { everyMs: 60_000 }))).toBe(60_000);
  });

  test('is due in fifteen seconds if the clock was set back by an hour', () => {
    expect(msUntil(0, 3_600_000, waiter(3_605_000))).toBe(15_000);
  });

  test('is due when the time of one of them is over', () => {
    expect(msUntil(10_000, 10_000, waiter(20_000), { ...waiter(20_000), endMs: 10_400 })).toBe(400);
  });
});

test('keeps the pace that a caller asked for', () => {
  const asking = waiter(0, { everyMs: 250 });
  planNextPoll(asking, times, 1_000);
  expect(asking.dueMs).toBe(1_250);
});
