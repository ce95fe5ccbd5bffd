import { expect, test } from 'vitest';
import { createWorkTimes } from '../../../src/client/jobs/poll-schedule.ts';

test('a job is expected to take the median time', () => {
  const times = createWorkTimes();
  for (const seconds of [50, 10, 30, 20, 40]) times.add('dubbing', seconds * 1000, null);
  expect(times.expect('dubbing', null, 0)).toBe(30_000);
});

test('one that has already taken long is expected to take as long as those that took longer', () => {
  const times = createWorkTimes();
  for (const seconds of [10, 20, 30, 40, 50]) times.add('dubbing', seconds * 1000, null);
  expect(times.expect('dubbing', null, 30_000)).toBe(50_000);
  expect(times.expect('dubbing', null, 50_000)).toBeNull();
});

test('a job of three minutes takes three times as long as one of one minute if the quantities are known', () => {
  const times = createWorkTimes();
  times.add('dubbing', 20_000, 2);
  expect(times.expect('dubbing', 6, 0)).toBe(60_000);
  expect(times.expect('dubbing', null, 0)).toBe(20_000);
  times.add('dubbing', 7_000, null);
  times.add('dubbing', 7_000, 0);
  expect(times.expect('dubbing', 6, 0)).toBe(7_000);
});

test('jobs of another kind are ignored', () => {
  const times = createWorkTimes();
  times.add('dubbing', 20_000, null);
  expect(times.expect('auto_localization', null, 0)).toBeNull();
});

test('a service that slows down is followed, and old times are forgotten', () => {
  const times = createWorkTimes();
  for (let job = 0; job < 100; job += 1) times.add('dubbing', 1_000, null);
  for (let job = 0; job < 99; job += 1) times.add('dubbing', 9_000, null);
  expect(times.expect('dubbing', null, 0)).toBe(9_000);
});
