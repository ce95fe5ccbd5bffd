import { expect, test } from 'vitest';
import { firstLinkExpiry } from '../../../src/batch/deliver/deliver-results.ts';
import type { Job } from '../../../src/client/index.ts';
import { readJob } from '../../../src/client/read/job.ts';

const jobWith = (fields: object): Job =>
  readJob('dubbing', { id: 'dub_1', status: 'succeeded', ...fields }, null);
const audio = (expires_at?: string) => ({ audio: { url: 'https://a.example/x', expires_at } });

test('a result expires at the earliest time that the service states, in UTC', () => {
  const job = jobWith({
    expires_at: '2026-11-02T00:00:00Z',
    result: audio('2026-11-02T06:00:00+08:00'),
  });
  expect(firstLinkExpiry(job)).toBe('2026-11-01T22:00:00.000Z');
});

test('files without an expiry time have that of the job', () => {
  const told = jobWith({ expires_at: '2026-11-02T00:00:00Z', result: audio() });
  expect(firstLinkExpiry(told)).toBe('2026-11-02T00:00:00.000Z');
});

test('no expiry is assumed if the service states none, or an invalid one', () => {
  expect(firstLinkExpiry(jobWith({ result: audio('soon') }))).toBeNull();
  expect(firstLinkExpiry(jobWith({ result: {} }))).toBeNull();
  expect(firstLinkExpiry(jobWith({ status: 'failed' }))).toBeNull();
});
