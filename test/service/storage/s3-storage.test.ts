/** How work continues with storage that answers wrongly for a while; test/cluster has the storage that works. */
import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import type { Clock } from '../../../src/service/clock.ts';
import type { LogEntry } from '../../../src/service/log.ts';
import { createS3Storage } from '../../../src/service/storage/s3-storage.ts';
import { StorageAway } from '../../../src/service/storage/storage.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { openBefore } from './stand-in.ts';

const BYTES = Buffer.from('the bytes of a video');
const ETAG = 'a'.repeat(32);
const RESULT = {
  path: import.meta.filename,
  contentType: 'video/mp4',
  sizeBytes: statSync(import.meta.filename).size,
  sha256: '0'.repeat(64),
};
const UPLOAD = { file: 'upl_1', size_bytes: BYTES.length, etag: ETAG, sha256: null };

/** Waits take no time, and are counted. */
async function makeStorage(answer: RequestListener) {
  const bucket = await openBefore(answer);
  const waits: number[] = [];
  const logged: LogEntry[] = [];
  const clock: Clock = {
    now: Date.now,
    schedule(ms, run) {
      waits.push(ms);
      const immediate = setImmediate(run);
      return () => clearImmediate(immediate);
    },
  };
  const log = (entry: LogEntry) => void logged.push(entry);
  const storage = createS3Storage({ bucket, prefix: '', clock, now: Date.now, log, isOurs: async () => {} });
  const folder = makeFolder();
  const { signal } = new AbortController();
  return { storage, waits, logged, folder, fetch: () => storage.fetchUpload(UPLOAD, { folder, signal }) };
}

test('an input is fetched again after temporary errors', async () => {
  let asked = 0;
  const { fetch, waits, folder } = await makeStorage((_asked, answer) => {
    asked += 1;
    if (asked === 1) return answer.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
    // The second one breaks off in the middle.
    answer.writeHead(200, { ETag: `"${ETAG}"`, 'Content-Length': String(BYTES.length) });
    if (asked === 2) return answer.write(BYTES.subarray(0, 5), () => answer.destroy());
    return answer.end(BYTES);
  });
  await fetch();
  expect(waits).toHaveLength(2);
  expect(await readdir(folder)).toEqual(['uploaded-source']);
});

test.each([
  ['the page of a network', (answer: Parameters<RequestListener>[1]) => answer.end('<html>please sign in')],
  [
    'rights that were withdrawn',
    (answer: Parameters<RequestListener>[1]) =>
      answer.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>'),
  ],
  [
    'a missing bucket',
    (answer: Parameters<RequestListener>[1]) =>
      answer.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>'),
  ],
])('a job waits for %s to pass, and none of its input remains', async (_name, refuse) => {
  const { fetch, folder } = await makeStorage((_asked, answer) => refuse(answer));
  await expect(fetch()).rejects.toThrow(StorageAway);
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ['NoSuchKey', 404, 'is gone'],
  ['PreconditionFailed', 412, 'was replaced'],
])('a job fails when its input %s', async (code, status, words) => {
  const { fetch } = await makeStorage((_asked, answer) => {
    answer.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
  });
  await expect(fetch()).rejects.toMatchObject({
    code: 'STORAGE_ERROR',
    message: expect.stringContaining(words),
  });
});

test('storing a result is retried for five minutes; then the job returns to the queue', async () => {
  const { storage, waits, logged } = await makeStorage((asked, answer) => {
    asked.resume();
    answer.writeHead(500).end();
  });

  const stored = storage.storeResult('loc_1-a', { video: RESULT }, new AbortController());
  await expect(stored).rejects.toThrow(StorageAway);
  expect(Math.round(waits.reduce((sum, ms) => sum + ms, 0) / 60_000)).toBe(5);
  expect(logged).toHaveLength(waits.length);
});

test('a result that the storage rejects fails its job', async () => {
  const { storage } = await makeStorage((asked, answer) => {
    asked.resume();
    answer.writeHead(400).end('<Error><Code>EntityTooLarge</Code></Error>');
  });

  const stored = storage.storeResult('loc_1-a', { video: RESULT }, new AbortController());
  await expect(stored).rejects.toMatchObject({
    code: 'STORAGE_ERROR',
    message: expect.stringContaining('larger'),
  });
});
