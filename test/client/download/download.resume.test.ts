import { existsSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_TIMEOUTS } from '../../../src/client/transport/http.ts';
import { createFakeRuntime, type FakeRuntime } from '../support/fake-runtime.ts';
import { failureOf } from '../support/harness.ts';
import { answer, cutAfter, reset } from '../support/scripted-server.ts';
import { startDownload } from '../support/start-download.ts';
import { serveBytes } from '../support/stored-bytes.ts';

describe('an interrupted download', () => {
  test('continues where the connection broke, with the validator that it had received', async () => {
    const { client, server, asset, to, bytes, runtime } = await startDownload();
    const headers = { etag: '"v1"' };
    server.script.push(cutAfter(bytes.length, bytes.subarray(0, 100_000), headers), reset);
    await client.download(asset, { to });
    expect((await readFile(to)).equals(bytes)).toBe(true);
    const last = server.seen.at(-1)?.headers;
    expect(last?.range).toMatch(/^bytes=\d+-$/);
    expect(last?.['if-range']).toBe('"v1"');
    expect(runtime.slept).toHaveLength(2);
  });

  test('of an earlier run continues from any cut, and ends byte for byte the same', async () => {
    const { client, server, asset, bytes, folder } = await startDownload(5_000);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 5_000 }), async (cut) => {
        run += 1;
        const to = join(folder, `${run}.mp4`);
        const part = join(folder, `.${run}.part`);
        await writeFile(part, bytes.subarray(0, cut));
        server.seen.length = 0;
        const done = await client.download(asset, { to, part });
        expect(done.sha256).toBe(asset.sha256);
        expect((await readFile(to)).equals(bytes)).toBe(true);
        expect(server.seen.map((seen) => seen.headers.range)).toEqual(
          cut === 5_000 ? [] : [cut === 0 ? undefined : `bytes=${cut}-`],
        );
      }),
      { numRuns: 15, examples: [[0], [1], [4_999], [5_000]] },
    );
  });

  test.each([
    ['of other bytes', (bytes: Buffer) => Buffer.alloc(1_000, bytes[0] === 1 ? 2 : 1)],
    ['longer than the file', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('more')])],
    ['of other bytes, as long as the file', (bytes: Buffer) => Buffer.alloc(bytes.length)],
  ])('with a part %s starts over, once', async (_how, spoil) => {
    const { client, asset, to, part, bytes, events } = await startDownload();
    await writeFile(part, spoil(bytes));
    await client.download(asset, { to });
    expect((await readFile(to)).equals(bytes)).toBe(true);
    expect(events).toContainEqual(expect.objectContaining({ code: 'DOWNLOAD_RESTARTED' }));
  });

  test('without a known hash uses no part of an earlier run', async () => {
    const { client, asset, to, part, bytes, server } = await startDownload();
    await writeFile(part, Buffer.alloc(1_000));
    await client.download({ ...asset, sha256: null }, { to });
    expect((await readFile(to)).equals(bytes)).toBe(true);
    expect(server.seen[0]?.headers.range).toBeUndefined();
  });

  test('with neither hash nor validator starts over', async () => {
    const { client, asset, to, bytes, server } = await startDownload();
    server.script.push(cutAfter(bytes.length, bytes.subarray(0, 100_000), {}));
    await client.download({ ...asset, sha256: null }, { to });
    expect((await readFile(to)).equals(bytes)).toBe(true);
    expect(server.seen.map((seen) => seen.headers.range)).toEqual([undefined, undefined]);
  });

  test('from a server without Range is fetched whole', async () => {
    const { client, server, asset, to, part, bytes } = await startDownload();
    await writeFile(part, bytes.subarray(0, 1_000));
    server.fallback = answer(200, {}, bytes);
    await client.download(asset, { to });
    expect((await readFile(to)).equals(bytes)).toBe(true);
  });

  test('keeps what it has for the next run when the attempts are used up', async () => {
    const { client, server, asset, to, part, bytes } = await startDownload();
    server.script.push(
      cutAfter(bytes.length, bytes.subarray(0, 100_000), { etag: '"v1"' }),
      reset,
      reset,
      reset,
      reset,
    );
    const { facts } = await failureOf(client.download(asset, { to }));
    expect(facts).toMatchObject({ category: 'temporary', code: 'CONNECTION_RESET' });
    expect(existsSync(to)).toBe(false);
    expect(statSync(part).size).toBeGreaterThan(0);
    await client.download(asset, { to });
    expect((await readFile(to)).equals(bytes)).toBe(true);
  });

  test('counts its attempts again when each makes progress', async () => {
    const { client, server, asset, to, bytes } = await startDownload(8 * 1024 ** 2);
    const serve = serveBytes(bytes, '"v1"', 1.2 * 1024 ** 2);
    server.script.push(...Array.from({ length: 6 }, () => serve));
    await client.download(asset, { to });
    expect((await readFile(to)).equals(bytes)).toBe(true);
    expect(server.seen).toHaveLength(7);
  });
});

test('at a trickling connection is given up after the idle time and resumed', async () => {
  // The limits that run, by their length: those of this test end by its hand.
  const running = new Map<number, () => void>();
  const fake: FakeRuntime = {
    ...createFakeRuntime(),
    timer(ms, expire) {
      if (!running.has(ms)) running.set(ms, expire);
      return () => void (running.get(ms) === expire && running.delete(ms));
    },
  };
  const { client, server, asset, to, bytes } = await startDownload(100_000, { fake });
  server.script.push((_seen, response) => {
    response.writeHead(200, { 'content-length': bytes.length, etag: '"v1"' });
    let sent = 0;
    const timer = setInterval(() => {
      response.write(bytes.subarray(sent, ++sent));
      if (sent > 10) running.get(DEFAULT_TIMEOUTS.idleMs)?.();
    }, 5);
    response.on('close', () => clearInterval(timer));
  });
  await client.download(asset, { to });
  expect((await readFile(to)).equals(bytes)).toBe(true);
  expect(server.seen).toHaveLength(2);
});
