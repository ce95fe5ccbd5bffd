import { describe, expect, it } from 'vitest';
import type { Bill } from '../../../src/batch/bill.ts';
import { createBudget } from '../../../src/batch/run/budget.ts';

const KIND = 'auto_localization';
const minutes = (quantity: number) => ({ unit: 'started_minute', quantity }) as const;
const reserved = (quantity: number, credits: number): Bill => ({
  status: 'reserved',
  quantity,
  reserved_credits: credits,
  charged_credits: 0,
});
const settled = (quantity: number, credits: number, charged: number): Bill => ({
  ...reserved(quantity, credits),
  status: 'settled',
  charged_credits: charged,
});

describe('a budget', () => {
  it('allows everything without a limit', () => {
    const budget = createBudget(null);
    for (const id of ['a', 'b', 'c']) {
      expect(budget.judge(KIND, null)).toBe('go');
      budget.begin(id, KIND, null);
    }
  });

  it('sends the first job alone, to learn the price', () => {
    const budget = createBudget(10);
    expect(budget.judge(KIND, minutes(1))).toBe('go');
    budget.begin('a', KIND, minutes(1));
    expect(budget.judge(KIND, minutes(1))).toBe('wait');
    budget.bill('a', KIND, reserved(1, 2));
    expect(budget.judge(KIND, minutes(4))).toBe('go');
    expect(budget.judge(KIND, minutes(5))).toBe('stop');
  });

  it('counts jobs that are being sent', () => {
    const budget = createBudget(10);
    budget.bill('a', KIND, reserved(1, 2));
    budget.begin('b', KIND, minutes(3));
    expect(budget.judge(KIND, minutes(1))).toBe('go');
    // The job that is being sent may turn out cheaper, so it does not stop the run yet.
    expect(budget.judge(KIND, minutes(2))).toBe('wait');
    budget.drop('b');
    expect(budget.judge(KIND, minutes(4))).toBe('go');
  });

  it('counts charges instead of their reservations, and nothing for what was released', () => {
    const budget = createBudget(10);
    budget.bill('a', KIND, reserved(4, 4));
    budget.bill('a', KIND, settled(4, 4, 3));
    budget.bill('b', KIND, { ...reserved(5, 5), status: 'released' });
    expect(budget.totals()).toMatchObject({ reserved: 0, charged: 3, unknown: 0 });
    expect(budget.judge(KIND, minutes(7))).toBe('go');
    expect(budget.judge(KIND, minutes(8))).toBe('stop');
  });

  it('assumes the maximum length for a video that nobody has measured', () => {
    const budget = createBudget(17);
    budget.bill('a', KIND, reserved(2, 2));
    expect(budget.judge(KIND, null)).toBe('go');
    budget.bill('b', KIND, reserved(1, 1));
    expect(budget.judge(KIND, null)).toBe('stop');
  });

  it('stops if the service does not state what jobs cost', () => {
    const budget = createBudget(100);
    budget.begin('a', KIND, minutes(1));
    budget.bill('a', KIND, null);
    expect(budget.judge(KIND, minutes(1))).toBe('unpriced');
    expect([budget.committed(), budget.ofThisRun()]).toEqual([null, null]);
  });

  it('assumes the price that the user states where the service reports none', () => {
    const budget = createBudget(5, null, { [KIND]: 2 });
    // It is known before the first job, so that one is not sent alone.
    budget.begin('a', KIND, minutes(1));
    expect(budget.judge(KIND, minutes(1))).toBe('go');
    budget.bill('a', KIND, null);
    // A job of an earlier run, whose size its record has.
    budget.countEarlier(() =>
      budget.bill('b', KIND, { ...reserved(1, 0), reserved_credits: null, charged_credits: null }),
    );
    expect([budget.committed(), budget.ofThisRun()]).toEqual([4, 2]);
    expect(budget.totals()).toMatchObject({ reserved: 0, charged: 0, unknown: 2, units: [minutes(2)] });
    expect(budget.judge(KIND, minutes(1))).toBe('stop');
  });

  it('prefers the price that the service reports to the stated one', () => {
    const budget = createBudget(10, null, { [KIND]: 1 });
    budget.bill('a', KIND, reserved(1, 4));
    expect(budget.judge(KIND, minutes(2))).toBe('stop');
  });

  it('adds tenths without a rounding error', () => {
    const budget = createBudget(0.3);
    budget.bill('a', KIND, reserved(1, 0.1));
    budget.bill('b', KIND, reserved(1, 0.1));
    expect(budget.judge(KIND, minutes(1))).toBe('go');
    budget.bill('c', KIND, reserved(1, 0.1));
    expect(budget.totals().reserved).toBe(0.3);
    expect(budget.judge(KIND, minutes(1))).toBe('stop');
  });

  it('sends nothing when the limit is 0', () => {
    expect(createBudget(0).judge(KIND, minutes(1))).toBe('stop');
  });

  it('sends nothing that could exceed a limit for new jobs, including the first job', () => {
    const budget = createBudget(null, { max: 5 }, { [KIND]: 1 });
    expect(budget.judge(KIND, minutes(6))).toBe('stop');
    // 15 minutes, the longest video.
    expect(budget.judge(KIND, null)).toBe('stop');
    expect(budget.judge(KIND, minutes(2))).toBe('go');
    budget.begin('a', KIND, minutes(2));
    expect(budget.judge(KIND, minutes(3))).toBe('go');
    expect(budget.judge(KIND, minutes(4))).toBe('wait');
    budget.bill('a', KIND, reserved(2, 2));
    expect(budget.judge(KIND, minutes(4))).toBe('stop');
  });

  it('sends no subtitles of unknown size within a limit for new jobs, unless they are free', () => {
    const translation = 'subtitle_translation';
    const budget = createBudget(null, { max: 1000 }, { [translation]: 1 });
    budget.bill('a', translation, settled(1, 1, 1));
    expect(budget.judge(translation, null)).toBe('stop');
    expect(createBudget(null, { max: 0 }, { [translation]: 0 }).judge(translation, null)).toBe('go');
  });

  it('uses the price of the last job for the next ones', () => {
    const budget = createBudget(null, { max: 10 }, { [KIND]: 1 });
    budget.bill('a', KIND, reserved(1, 4));
    expect(budget.judge(KIND, minutes(2))).toBe('stop');
    expect(budget.judge(KIND, minutes(1))).toBe('go');
  });

  it('is exact for a price that results from a division', () => {
    const budget = createBudget(null, { max: 3.3 }, { [KIND]: 2.2 / 2 });
    expect(budget.judge(KIND, minutes(3))).toBe('go');
    expect(createBudget(null, { max: 1 }, { [KIND]: 1 / 3 }).judge(KIND, minutes(4))).toBe('stop');
  });

  it('sends a first job alone if the account itself cannot pay more than the limit', () => {
    const budget = createBudget(null, { max: 5 });
    expect(budget.judge(KIND, minutes(1))).toBe('go');
    budget.begin('a', KIND, minutes(1));
    expect(budget.judge(KIND, minutes(1))).toBe('wait');
  });

  it('counts the earlier cost of an item when another job is made for it', () => {
    const budget = createBudget(5);
    budget.bill('a', KIND, settled(2, 2, 2));
    budget.begin('a', KIND, minutes(2));
    budget.bill('a', KIND, settled(2, 2, 2));
    expect(budget.totals()).toMatchObject({ reserved: 0, charged: 4, unknown: 0 });
    expect(budget.judge(KIND, minutes(2))).toBe('stop');
  });
});
