import fc from 'fast-check';
import { expect, test } from 'vitest';
import { monthOf } from '../../../src/service/credits/month.ts';

/** What the system's own tables of time zones say. */
const calendar = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'Asia/Shanghai',
  year: 'numeric',
  month: '2-digit',
});
const nameOf = (at: number) => calendar.format(at).slice(0, 7);

test('the month is that of the calendar in Shanghai, also around its ends', () => {
  const month = fc.record({ year: fc.integer({ min: 2020, max: 2090 }), month: fc.nat({ max: 11 }) });
  fc.assert(
    fc.property(month, fc.integer({ min: -100_000, max: 100_000 }), ({ year, month: index }, offset) => {
      const at = Date.UTC(year, index) - 8 * 3_600_000 + offset;
      const { name, endsAt } = monthOf(at);
      expect(name).toBe(nameOf(at));
      expect(endsAt).toBeGreaterThan(at);
      expect(nameOf(endsAt - 1)).toBe(name);
      expect(nameOf(endsAt)).not.toBe(name);
    }),
    { numRuns: 1000 },
  );
});

test('a month has four digits for its year and two for its own number', () => {
  const january = Date.UTC(2027, 0, 1) - 8 * 3_600_000;
  expect(monthOf(january)).toEqual({ name: '2027-01', endsAt: Date.UTC(2027, 1, 1) - 8 * 3_600_000 });
  expect(monthOf(january - 1)).toEqual({ name: '2026-12', endsAt: january });
  expect(monthOf(Date.UTC(999, 9, 15)).name).toBe('0999-10');
});
