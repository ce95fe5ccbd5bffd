import { expect, it } from 'vitest';
import { compareClocks } from '../../../src/commands/doctor/network.ts';

const SERVICE = 'Fri, 20 Nov 2026 18:04:05 GMT';
const SERVICE_MS = Date.parse(SERVICE);

it.each([
  [0, 'ok', 'agrees with the service to the second'],
  [60, 'ok', '60 s ahead of the service'],
  [61, 'warn', '61 s ahead of the service'],
  [-300, 'warn', '300 s behind the service'],
  [-301, 'fail', '301 s behind the service'],
])('a clock that is %i s ahead is %s', (seconds, grade, message) => {
  // A header of whole seconds stands for the middle of its second.
  const now = SERVICE_MS + 500 + seconds * 1000;
  expect(compareClocks(SERVICE, now - 200, now + 200)).toMatchObject({
    grade,
    message,
    facts: seconds === 0 ? { ahead_seconds: 0 } : { ahead_seconds: seconds },
  });
});

it.each([undefined, '', 'noon'])('a clock that cannot be compared is not reported: %j', (date) => {
  expect(compareClocks(date, 0, 0)).toMatchObject({ grade: 'warn' });
});
