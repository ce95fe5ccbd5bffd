import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { openPartFile } from '../../../src/client/download/part-file.ts';
import { receiveBody } from '../../../src/client/download/receive.ts';
import { startTimeLimit } from '../../../src/client/transport/http.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { failureOf } from '../support/harness.ts';
import { startDownload } from '../support/start-download.ts';

const MIB = 1024 ** 2;

/** Receives chunks into a new part; returns what is on disk then, and what was reported. */
async function receive(chunks: readonly Buffer[], total: number) {
  const path = join(makeFolder(), '.video.mp4.part');
  const part = await openPartFile(path, { keep: false, hashed: true });
  onTestFinished(part.close);
  const limit = startTimeLimit(10_000, undefined);
  onTestFinished(async () => limit.clear());
  const told: number[] = [];
  async function* body() {
    yield* chunks;
  }
  const onBytes = (bytes: number) => told.push(bytes);
  await receiveBody(body(), part, {
    limit,
    idleMs: 10_000,
    total,
    room: Number.POSITIVE_INFINITY,
    onBytes,
    noRoom: () => new Failure({ category: 'disk', code: 'DISK_FULL', message: 'no room' }),
  });
  return { written: await readFile(path), told, part };
}

describe('a body', () => {
  test.each([
    ['in chunks that fill a batch unevenly', 300_007, 16],
    ['in one chunk of several batches', 9 * MIB + 1, 1],
    ['byte by byte', 1, 50],
  ])('%s is written as it arrived', async (_how, size, count) => {
    const whole = randomBytes(size * count);
    const chunks = Array.from({ length: count }, (_, at) =>
      Buffer.from(whole.subarray(at * size, (at + 1) * size)),
    );
    const { written, told, part } = await receive(chunks, whole.length);
    expect(written.equals(whole)).toBe(true);
    expect(part.length).toBe(whole.length);
    expect(told.at(-1)).toBe(whole.length);
  });

  test('is reported a thousand times, not for each of its bytes', async () => {
    const chunks = Array.from({ length: 5_000 }, () => Buffer.alloc(10));
    const { told } = await receive(chunks, 50_000);
    expect(told.length).toBeLessThanOrEqual(1_000);
    expect(told.length).toBeGreaterThan(900);
  });
});

describe('the hash of a download', () => {
  test('is not computed if the service states none', async () => {
    const { client, asset, to, bytes } = await startDownload();
    const done = await client.download({ ...asset, sha256: null }, { to });
    expect(done).toEqual({ path: to, bytes: bytes.length, sha256: null });
  });

  test('is computed for a caller who wants it', async () => {
    const { client, asset, to } = await startDownload();
    const done = await client.download({ ...asset, sha256: null }, { to, hash: true });
    expect(done.sha256).toBe(asset.sha256);
  });

  test.each([
    ['and matches', (right: string) => right, null],
    ['and does not match', () => 'f'.repeat(64), 'DOWNLOAD_DAMAGED'],
  ])('is checked if the second address states one and the first did not, %s', async (_how, stated, code) => {
    const { client, server, asset, to } = await startDownload();
    server.script.push((_seen, response) => response.writeHead(403, { 'content-length': 0 }).end());
    const refresh = async () => ({
      ...asset,
      url: `${asset.url}?again`,
      sha256: stated(asset.sha256 ?? ''),
    });
    const work = client.download({ ...asset, sha256: null }, { to, refresh });
    if (code === null) expect((await work).sha256).toBe(asset.sha256);
    else expect((await failureOf(work)).facts.code).toBe(code);
  });
});
