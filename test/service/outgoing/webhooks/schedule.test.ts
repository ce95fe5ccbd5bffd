import { expect, test } from 'vitest';
import { waitAfter } from '../../../../src/service/outgoing/webhooks/schedule.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const PLANNED = [5000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS];

test('an event is sent again after 5 s, 5 min, 30 min, 2 h, 5 h and 10 h, and then no more', () => {
  expect(PLANNED.map((_, at) => waitAfter(at + 1, 0.5))).toEqual(PLANNED);
  expect(waitAfter(7, 0.5)).toBeNull();
});

test('each wait is up to a tenth shorter or longer', () => {
  for (const [at, planned] of PLANNED.entries()) {
    expect(waitAfter(at + 1, 0)).toBe(Math.round(planned * 0.9));
    expect(waitAfter(at + 1, 1)).toBe(Math.round(planned * 1.1));
  }
});

test('the last attempt falls within the 24 hours of the download addresses, whatever is drawn', () => {
  const longest = PLANNED.reduce((sum, _, at) => sum + (waitAfter(at + 1, 1) ?? 0), 0);
  expect(longest).toBeLessThan(24 * HOUR_MS);
});
