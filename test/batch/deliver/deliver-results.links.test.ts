import { expect, test } from 'vitest';
import { whenLinksLapse } from '../../../src/batch/deliver/deliver-results.ts';
import type { Job } from '../../../src/client/index.ts';
import { readJob } from '../../../src/client/read/job.ts';

const jobWith = (fields: object): Job =>
  readJob('dubbing', { id: 'dub_1', status: 'succeeded', ...fields }, null);
const audio = (expires_at?: string) => ({ audio: { url: 'https://a.example/x', expires_at } });

test('the first of all times that the service tells counts, in UTC', () => {
  const job = jobWith({
    expires_at: '2026-11-02T00:00:00Z',
    result: audio('2026-11-02T06:00:00+08:00'),
  });
  expect(whenLinksLapse(job)).toBe('2026-11-01T22:00:00.000Z');
});

test('that of the job stands for files that tell none', () => {
  const told = jobWith({ expires_at: '2026-11-02T00:00:00Z', result: audio() });
  expect(whenLinksLapse(told)).toBe('2026-11-02T00:00:00.000Z');
});

test('nothing is made up where the service tells nothing, or no time', () => {
  expect(whenLinksLapse(jobWith({ result: audio('soon') }))).toBeNull();
  expect(whenLinksLapse(jobWith({ result: {} }))).toBeNull();
  expect(whenLinksLapse(jobWith({ status: 'failed' }))).toBeNull();
});
