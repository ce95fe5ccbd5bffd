import { expect, it } from 'vitest';
import { describeCosts, describeItemCosts } from '../../../src/batch/report/costs.ts';

const NOTHING = { charged: 0, reserved: 0, unknown: 0, units: [] };
const MINUTES = { unit: 'started_minute', quantity: 6 } as const;

it.each([
  [{}, '0 credits'],
  [{ charged: 1 }, '1 credit'],
  [{ charged: 0.1 + 0.2, reserved: 12 }, '0.3 credits, 12 credits reserved'],
  [{ unknown: 24, units: [MINUTES] }, '6 started minutes'],
  [{ unknown: 1 }, '1 job'],
  [
    { charged: 2, unknown: 3, units: [MINUTES, { unit: 'line', quantity: 1 } as const] },
    '2 credits and 6 started minutes, 1 line without a price',
  ],
])('the costs %j are shown with their units', (costs, shown) => {
  expect(describeCosts({ ...NOTHING, ...costs })).toBe(shown);
});

it('the cost of items is the sum of those that can cost something', () => {
  const item = { job_id: 'dub_1', credits: { charged: 2, reserved: 0 } };
  expect(describeItemCosts([item, { ...item, is_free: true }])).toBe('2 credits');
  expect(describeItemCosts([{ ...item, is_free: true }])).toBeNull();
  expect(describeItemCosts([{ job_id: null, credits: null }])).toBeNull();
  const unpriced = { job_id: 'dub_2', credits: null, units: [MINUTES] };
  expect(describeItemCosts([unpriced, unpriced])).toBe('12 started minutes');
});
