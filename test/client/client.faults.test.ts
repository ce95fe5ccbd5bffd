/** Every fault at every step of a job: success after a retry, or the documented category; never a second job. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { assetsOf, type Client, Failure, type FailureCategory } from '../../src/client/index.ts';
import { makeFolder, onCleanup, startHarness } from './support/harness.ts';
import { executeThenDrop, type MiniService, type Step, serveAll } from './support/mini-service.ts';
import {
  answer,
  cutAfter,
  hang,
  html,
  problem,
  type Reply,
  reset,
  startServer,
} from './support/scripted-server.ts';

type End = 'ok' | FailureCategory;

/** What one occurrence leads to at the signed steps, at the PUT and at the download. */
interface Fault {
  readonly name: string;
  readonly make: (real: Reply, request: Parameters<typeof executeThenDrop>[1]) => Reply;
  readonly api: End;
  readonly put: End;
  readonly download: End;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const slowLoris: Reply = (_seen, response) => {
  response.writeHead(200, { ...JSON_TYPE, 'content-length': 10_000 });
  const timer = setInterval(() => response.write(' '), 10);
  response.on('close', () => clearInterval(timer));
};
const skewed = problem(401, 'AUTHENTICATION_FAILED', false, {
  date: new Date(Date.now() + 400_000).toUTCString(),
});
const limited = (code: string) =>
  problem(429, code, code !== 'CREDIT_QUOTA_EXCEEDED', { 'retry-after': '3' });
const unavailable = (retryable: boolean) => problem(503, 'SERVICE_TEMPORARILY_UNAVAILABLE', retryable);

function fault(name: string, reply: Reply, api: End, put: End, download: End): Fault {
  return { name, make: () => reply, api, put, download };
}

let foreignOrigin = '';

/** Storage knows no JSON: a 200 of whatever kind is taken, and completion finds that the bytes never came. */
const FAULTS: Fault[] = [
  fault('reset before the answer', reset, 'ok', 'ok', 'ok'),
  fault('reset in the answer', cutAfter(500, Buffer.from('{"id":'), JSON_TYPE), 'ok', 'ok', 'ok'),
  { name: 'executed, then dropped', make: executeThenDrop, api: 'ok', put: 'ok', download: 'ok' },
  fault('no answer', hang, 'ok', 'ok', 'ok'),
  fault('one byte at a time', slowLoris, 'ok', 'ok', 'ok'),
  fault('502 HTML', html(502, '<h1>Bad Gateway</h1>'), 'ok', 'ok', 'ok'),
  fault('200 HTML', html(200, '<h1>Sign in</h1>'), 'configuration', 'ok', 'ok'),
  fault('malformed JSON', answer(200, JSON_TYPE, '{"id": "x", '), 'ok', 'ok', 'ok'),
  fault('an empty body', answer(200, JSON_TYPE), 'ok', 'ok', 'ok'),
  fault(
    'another content type',
    answer(200, { 'content-type': 'text/plain' }, '{}'),
    'configuration',
    'ok',
    'ok',
  ),
  fault('503, retryable', unavailable(true), 'ok', 'ok', 'ok'),
  fault('503, not retryable', unavailable(false), 'refused', 'ok', 'ok'),
  fault('429 rate', limited('RATE_LIMIT_EXCEEDED'), 'ok', 'ok', 'ok'),
  fault('429 concurrency', limited('CONCURRENCY_LIMIT_EXCEEDED'), 'ok', 'ok', 'ok'),
  fault('429 quota', limited('CREDIT_QUOTA_EXCEEDED'), 'credits', 'ok', 'ok'),
  fault('401 for a wrong clock', skewed, 'ok', 'ok', 'ok'),
  {
    name: '307 to another host',
    make: () => answer(307, { location: `${foreignOrigin}/x` }),
    api: 'configuration',
    put: 'refused',
    download: 'ok',
  },
  fault(
    'headers of 60 KB',
    answer(200, { ...JSON_TYPE, 'x-big': 'a'.repeat(60_000) }, '{}'),
    'ok',
    'ok',
    'ok',
  ),
  fault(
    'a gzip bomb',
    answer(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(2 ** 24))),
    'configuration',
    'ok',
    'configuration',
  ),
  fault('JSON 200,000 deep', answer(200, JSON_TYPE, '['.repeat(200_000)), 'ok', 'ok', 'ok'),
];

const STEPS: Step[] = [
  'createUpload',
  'put',
  'complete',
  'pollUpload',
  'createJob',
  'pollJob',
  'download',
  'cancel',
  'credits',
];

async function runAll(client: Client, service: MiniService): Promise<void> {
  const folder = await makeFolder();
  const input = join(folder, 'in.mp4');
  const to = join(folder, 'out.mp4');
  await writeFile(input, 'a video');
  const { upload } = await client.uploads.sendFile(input, {
    purpose: 'source_video',
    contentType: 'video/mp4',
  });
  const source = { type: 'upload', upload_id: upload.id } as const;
  const request = { source, target_language: 'es' };
  const { id } = await client.jobs.create('auto_localization', request, { idempotencyKey: 'the-one-intent' });
  const job = await client.jobs.wait('auto_localization', id);
  for (const { asset } of assetsOf(job)) {
    await client.download(asset, { to, refresh: async () => ({ ...asset, url: `${asset.url}?again` }) });
  }
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  expect(digest(await readFile(to))).toBe(digest(service.result));
  await client.jobs.cancel('auto_localization', id);
  await client.credits.balance();
}

async function endOf(work: Promise<void>): Promise<End> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.facts.category;
  }
}

const timeouts = { callMs: 150, idleMs: 100, connectMs: 100, storedMs: 100 };

describe.each(FAULTS)('$name', ({ make, api, put, download }) => {
  test.each(STEPS)('at %s', async (step) => {
    const foreign = await startServer(answer(404, {}));
    onCleanup(foreign.close);
    foreignOrigin = foreign.origin;
    const { client, server, runtime } = await startHarness({ timeouts });
    const service = serveAll(server);
    Object.assign(service.faults, { step, replies: [make] });
    const expected = step === 'put' ? put : step === 'download' ? download : api;
    expect(await endOf(runAll(client, service))).toBe(expected);
    expect(service.faults.replies).toEqual([]);
    expect(service.jobs.size).toBeLessThanOrEqual(1);
    const signed = foreign.seen
      .flatMap((seen) => Object.keys(seen.headers))
      .filter((name) => /x-service|idempotency/.test(name));
    expect(signed).toEqual([]);
    expect(runtime.slept.every((ms) => ms <= 15_000)).toBe(true);
  });
});
