import { readdirSync, statSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../support/harness.ts';
import { sha256, startDownload } from '../support/start-download.ts';
import { serveBytes } from '../support/stored-bytes.ts';

describe('a download', () => {
  test('creates the whole file under its name, and nothing else in the folder', async () => {
    const { client, asset, to, bytes, folder } = await startDownload();
    const done = await client.download(asset, { to });
    expect(done).toEqual({ path: to, bytes: bytes.length, sha256: sha256(bytes) });
    expect((await readFile(to)).equals(bytes)).toBe(true);
    expect(readdirSync(folder)).toEqual(['video.mp4']);
  });

  test('is unsigned, identity encoded, and keeps the address out of every event', async () => {
    const { client, server, asset, to, events } = await startDownload();
    await client.download(asset, { to });
    const names = Object.keys(server.seen[0]?.headers ?? {});
    expect(names.filter((name) => /^x-service|idempotency|authorization|cookie/.test(name))).toEqual([]);
    expect(server.seen[0]?.headers['accept-encoding']).toBe('identity');
    expect(JSON.stringify(events)).not.toContain('canary');
  });

  test('reports bytes and total as they arrive', async () => {
    const { client, asset, to, bytes } = await startDownload();
    const told: [number, number | null][] = [];
    await client.download(asset, { to, onProgress: (done, total) => told.push([done, total]) });
    expect(told.at(-1)).toEqual([bytes.length, bytes.length]);
    expect(told.map(([done]) => done)).toEqual(
      told.map(([done]) => done).sort((left, right) => left - right),
    );
  });

  test.each([
    [0o022, 0o644, 0o755],
    [0o077, 0o600, 0o700],
  ])(
    'under the umask %o gets the permissions that it allows, and so do its folders',
    async (mask, file, dir) => {
      const { client, asset, folder } = await startDownload(10);
      const to = join(folder, 'es', 'video.mp4');
      const before = process.umask(mask);
      try {
        await client.download(asset, { to });
      } finally {
        process.umask(before);
      }
      expect([statSync(to).mode & 0o777, statSync(join(folder, 'es')).mode & 0o777]).toEqual([file, dir]);
    },
  );

  test('of an empty file creates an empty file', async () => {
    const { client, asset, to } = await startDownload(0);
    await client.download(asset, { to });
    expect(statSync(to).size).toBe(0);
  });

  test('creates the missing folders', async () => {
    const { client, asset, folder } = await startDownload(10);
    const to = join(folder, 'es', 'week 1', 'video.mp4');
    await client.download(asset, { to });
    expect(statSync(to).size).toBe(10);
  });

  test('keeps an existing file unless it may overwrite', async () => {
    const { client, asset, to, bytes, server } = await startDownload();
    await writeFile(to, 'mine');
    const { facts } = await failureOf(client.download(asset, { to }));
    expect(facts).toMatchObject({ category: 'usage', code: 'TARGET_EXISTS' });
    expect(await readFile(to, 'utf8')).toBe('mine');
    expect(server.seen).toHaveLength(0);
    await client.download(asset, { to, overwrite: true });
    expect((await readFile(to)).equals(bytes)).toBe(true);
  });

  test('refuses the name of a link to a file that does not exist before it downloads', async () => {
    const { client, asset, to, server } = await startDownload();
    await symlink('nothing', to);
    expect((await failureOf(client.download(asset, { to }))).facts.code).toBe('TARGET_EXISTS');
    expect(server.seen).toHaveLength(0);
  });

  test('keeps a file that appeared while it ran', async () => {
    const { client, asset, to, server, bytes } = await startDownload();
    server.script.push((seen, response, request) => {
      void writeFile(to, 'mine').then(() => serveBytes(bytes, '"v1"')(seen, response, request));
    });
    expect((await failureOf(client.download(asset, { to }))).facts.code).toBe('TARGET_EXISTS');
    expect(await readFile(to, 'utf8')).toBe('mine');
  });
});

test('a download ends with the reason of the signal, and its part stays', async () => {
  const { client, server, asset, to, part, bytes } = await startDownload();
  const controller = new AbortController();
  const reason = new Error('the user pressed Ctrl-C');
  server.fallback = (_seen, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 100_000));
  };
  const onProgress = (done: number) => done >= 100_000 && controller.abort(reason);
  const work = client.download(asset, { to, signal: controller.signal, onProgress });
  await expect(work).rejects.toBe(reason);
  expect(statSync(part).size).toBe(100_000);
});
