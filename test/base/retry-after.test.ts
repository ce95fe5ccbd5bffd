import fc from 'fast-check';
import { expect, test } from 'vitest';
import { YEAR_MS } from '../../src/base/amounts.ts';
import { parseHttpDate, parseRetryAfter, retryAfterOf } from '../../src/base/retry.ts';
import { runs } from '../protocol/arbitraries.ts';

const NOW = Date.UTC(2026, 10, 6, 8, 49, 37);

test.each([
  ['0', 0],
  ['2', 2_000],
  [' 300 ', 300_000],
  ['2678400', 2_678_400_000],
  ['Fri, 06 Nov 2026 08:50:37 GMT', 60_000],
  ['Friday, 06-Nov-26 08:50:37 GMT', 60_000],
  ['Fri Nov  6 08:50:37 2026', 60_000],
  ['Fri, 06 Nov 2026 08:00:00 GMT', 0],
  ['31536000', YEAR_MS],
  ['31536001', YEAR_MS],
  ['99999999999999999999', YEAR_MS],
  ['9'.repeat(400), YEAR_MS],
  ['Mon, 31 Dec 9999 23:59:59 GMT', YEAR_MS],
])('%s means %i ms', (value, ms) => {
  expect(parseRetryAfter(value, NOW)).toBe(ms);
});

test.each([
  undefined,
  '',
  '-1',
  '1.5',
  'abc',
  '1e3',
  '0x10',
  '2026-11-06',
  'Fri',
  'Fri, 99 Foo 2026 99:99:99 GMT',
  '１０',
])('junk such as %j is ignored', (value) => {
  expect(parseRetryAfter(value, NOW)).toBeNull();
});

test('the wait is null or not negative, whatever is sent', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      const ms = parseRetryAfter(value, NOW);
      expect(ms === null || ms >= 0).toBe(true);
    }),
    { numRuns: runs(1_000, 10_000) },
  );
});

test('any whole number of seconds is accepted, up to a year', () => {
  fc.assert(
    fc.property(fc.nat(), (seconds) => {
      expect(parseRetryAfter(String(seconds), NOW)).toBe(Math.min(seconds * 1000, YEAR_MS));
    }),
  );
});

test('a date is measured from the time at the service', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 7 }), (seconds) => {
      const date = new Date(NOW + seconds * 1000).toUTCString();
      expect(parseHttpDate(date)).toBe(NOW + seconds * 1000);
      expect(parseRetryAfter(date, NOW)).toBe(seconds * 1000);
    }),
  );
});

test('the wait follows from the date of the answer, else from the clock of this machine', () => {
  const inTenSeconds = 'Fri, 06 Nov 2026 08:49:47 GMT';
  const sent = 'Fri, 06 Nov 2026 08:49:40 GMT';
  expect(retryAfterOf({ 'retry-after': '3', date: sent }, NOW)).toBe(3_000);
  expect(retryAfterOf({ 'retry-after': inTenSeconds, date: sent }, NOW)).toBe(7_000);
  expect(retryAfterOf({ 'retry-after': inTenSeconds }, NOW)).toBe(10_000);
  expect(retryAfterOf({ 'retry-after': inTenSeconds, date: 'yesterday' }, NOW)).toBe(10_000);
  expect(retryAfterOf({ date: sent }, NOW)).toBeNull();
});

test.each([
  ['with words before it', 'on Fri, 06 Nov 2026 08:49:37 GMT'],
  ['without a time', 'Fri, 06 Nov 2026'],
  ['of a day that does not exist', 'Xyz, 06 Nov 2026 08:49:37 GMT'],
])('the date %s is invalid', (_what, value) => {
  expect(parseHttpDate(value)).toBeNull();
});
