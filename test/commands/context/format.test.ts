import { describe, expect, it, onTestFinished } from 'vitest';
import { formatBytes } from '../../../src/base/amounts.ts';
import {
  asSentence,
  formatDuration,
  formatLocalTime,
  formatRelative,
  parseDuration,
  parseMoment,
} from '../../../src/commands/context/format.ts';

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [12_345_678, '12.3 MB'],
  [123_456_789, '123 MB'],
  [1_073_741_824, '1.1 GB'],
])('shows %i bytes as %s', (bytes, shown) => {
  expect(formatBytes(bytes)).toBe(shown);
});

it.each([
  [400, '0.4 s'],
  [9_949, '9.9 s'],
  [59_400, '59 s'],
  [60_000, '1 min'],
  [200_000, '3 min 20 s'],
  [3_600_000, '1 h'],
  [7_500_000, '2 h 5 min'],
])('shows %i ms as %s', (ms, shown) => {
  expect(formatDuration(ms)).toBe(shown);
});

describe('a duration on the command line', () => {
  it.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['2h', 7_200_000],
    ['250ms', 250],
    ['1.5h', 5_400_000],
    ['45', 45_000],
  ])('reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', 'soon', '-5s', '1y', '1h30m'])('refuses "%s"', (text) => {
    expect(parseDuration(text)).toBeNull();
  });
});

it('shows a time of day in the time zone of the machine', () => {
  const zone = process.env.TZ;
  onTestFinished(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
  process.env.TZ = 'Asia/Tokyo';
  expect(formatLocalTime('2026-11-23T15:32:09.748Z')).toBe('Nov 24, 00:32');
  process.env.TZ = 'UTC';
  expect(formatLocalTime('2026-11-23T15:32:09.748Z')).toBe('Nov 23, 15:32');
});

describe('a relative time', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  it.each([
    ['2026-11-21T11:57:00Z', '3 min ago'],
    ['2026-11-22T10:59:59Z', 'in 22 h'],
    ['2026-11-21T12:00:00.400Z', 'now'],
    ['2026-11-21T11:59:15Z', '45 s ago'],
    ['2026-11-14T11:59:59Z', '7 d ago'],
    [null, '-'],
    ['soon', '-'],
  ])('%s is %s', (instant, shown) => {
    expect(formatRelative(instant, now)).toBe(shown);
  });

  it.each([
    ['2h', '2026-11-21T10:00:00.000Z'],
    ['2026-11-01', '2026-11-01T00:00:00.000Z'],
    ['2026-11-21T12:00:00+08:00', '2026-11-21T04:00:00.000Z'],
    ['2026-11-21 12:00Z', '2026-11-21T12:00:00.000Z'],
    ['2026-11-21T12:00:00', null],
    ['2026-13-01', null],
    ['7', null],
    ['yesterday', null],
  ])('%s is read as %s', (text, instant) => {
    expect(parseMoment(text, now)).toBe(instant);
  });
});

it.each([
  ['export the video again', 'Export the video again.'],
  ['Is it whole?', 'Is it whole?'],
])('writes %j as a sentence', (text, sentence) => {
  expect(asSentence(text)).toBe(sentence);
});
