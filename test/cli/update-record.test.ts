import { expect, it } from 'vitest';
import { planUpdate, readUpdateRecord } from '../../src/cli/update-record.ts';

const DAY = 24 * 3600 * 1000;
const NOW = 1_800_000_000_000;
const nothing = { asked: 0, latest: null, mentioned: 0 };

it('the first command asks, and mentions nothing', () => {
  expect(planUpdate(nothing, '1.0.0', NOW)).toEqual({
    mention: null,
    ask: true,
    next: { asked: NOW, latest: null, mentioned: 0 },
  });
});

it('a newer version is mentioned once a week, and asked for once a week', () => {
  const known = { asked: NOW, latest: '1.1.0', mentioned: 0 };
  const first = planUpdate(known, '1.0.0', NOW + DAY);
  expect(first).toMatchObject({ mention: '1.1.0', ask: false, next: { mentioned: NOW + DAY } });
  expect(planUpdate(first.next, '1.0.0', NOW + 6 * DAY)).toMatchObject({ mention: null, ask: false });
  expect(planUpdate(first.next, '1.0.0', NOW + 7 * DAY)).toMatchObject({ mention: null, ask: true });
  expect(planUpdate(first.next, '1.0.0', NOW + 8 * DAY)).toMatchObject({ mention: '1.1.0' });
});

it('a clock that was set back does not silence it', () => {
  const later = { asked: NOW + 900 * DAY, latest: '1.1.0', mentioned: NOW + 900 * DAY };
  expect(planUpdate(later, '1.0.0', NOW)).toMatchObject({ mention: '1.1.0', ask: true });
});

it.each([
  ['1.0.0', '1.0.0', false],
  ['0.9.9', '1.0.0', false],
  ['1.0.10', '1.0.9', true],
  ['1.10.0', '1.9.9', true],
  ['2.0.0', '1.99.99', true],
  ['1.0.0', '1.0.0-rc.1', true],
  ['2.0.0-rc.1', '1.0.0', false],
  ['newest\u001b[31m', '1.0.0', false],
])('%s after %s: %s', (latest, version, isNews) => {
  const { mention } = planUpdate({ asked: NOW, latest, mentioned: 0 }, version, NOW);
  expect(mention).toBe(isNews ? latest : null);
});

it('a damaged record is treated as missing', () => {
  for (const text of ['', '{', 'null', '[]', '{"asked":"now","mentioned":0}']) {
    expect(readUpdateRecord(text)).toEqual(nothing);
  }
  expect(readUpdateRecord('{"asked":1,"mentioned":2,"latest":{}}')).toEqual({
    asked: 1,
    mentioned: 2,
    latest: null,
  });
});
