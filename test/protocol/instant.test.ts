import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInstant } from '../../src/protocol/instant.ts';

const two = (value: number) => String(value).padStart(2, '0');

describe('an instant', () => {
  it.each([
    ['2026-11-01T00:00:00Z', Date.UTC(2026, 10, 1)],
    ['2026-11-01t08:00:00.5+08:00', Date.UTC(2026, 10, 1) + 500],
    ['2026-11-01T00:00:00z', Date.UTC(2026, 10, 1)],
    ['2026-11-01T00:00:00-00:00', Date.UTC(2026, 10, 1)],
    ['2024-02-29T23:59:59.999Z', Date.UTC(2024, 1, 29, 23, 59, 59, 999)],
    ['0001-01-01T00:00:00Z', Date.parse('0001-01-01T00:00:00Z')],
    // Records have whole milliseconds: none is at or after this and before the next one.
    ['2026-11-01T00:00:00.0001Z', Date.UTC(2026, 10, 1) + 1],
    ['2026-11-01T00:00:00.123000000000Z', Date.UTC(2026, 10, 1) + 123],
    // The leap second at the end of 2016, also as clocks in Tokyo and New York showed it.
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
    ['2017-01-01T08:59:60+09:00', Date.UTC(2017, 0, 1)],
    ['2016-12-31T18:59:60-05:00', Date.UTC(2017, 0, 1)],
  ])('is %s', (text, ms) => {
    expect(parseInstant(text)).toBe(ms);
  });

  it.each([
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:61Z',
    '2026-01-01T12:00:60Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+01:60',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00,5Z',
    '+002026-01-01T00:00:00Z',
    '20260101T000000Z',
    '2026-01-01',
    '1700000000',
    '٢٠٢٦-01-01T00:00:00Z',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
    '',
  ])('is not %j', (text) => {
    expect(parseInstant(text)).toBeNull();
  });

  it('is exactly what Date writes, in any time zone', () => {
    const first = Date.parse('0000-01-02T00:00:00Z');
    const last = Date.parse('9999-12-30T23:59:59Z');
    const zone = fc.integer({ min: -1439, max: 1439 });
    fc.assert(
      fc.property(fc.integer({ min: first, max: last }), zone, (ms, minutes) => {
        const local = new Date(ms + minutes * 60_000).toISOString().slice(0, -1);
        const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
        expect(parseInstant(`${local}${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`)).toBe(ms);
      }),
    );
  });

  it('is a day of the calendar, and no other numbers', () => {
    const day = fc.tuple(fc.nat({ max: 9999 }), fc.nat({ max: 13 }), fc.nat({ max: 32 }));
    fc.assert(
      fc.property(day, ([year, month, date]) => {
        const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(date)}T12:00:00Z`;
        const noon = new Date(0);
        noon.setUTCFullYear(year, month - 1, date);
        const exists = noon.getUTCMonth() === month - 1 && noon.getUTCDate() === date;
        expect(parseInstant(text)).toBe(exists ? noon.getTime() + 12 * 3_600_000 : null);
      }),
      { numRuns: 1000 },
    );
  });
});
