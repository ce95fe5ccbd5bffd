import { execFile, execFileSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createFakeRuntime } from '../support/fake-runtime.ts';
import { failureOf } from '../support/harness.ts';
import { answer, type Reply } from '../support/scripted-server.ts';
import { startDownload } from '../support/start-download.ts';

function chunked(bytes: Buffer): Reply {
  return (_seen, response) => {
    response.write(bytes);
    response.end();
  };
}

describe('a download that differs from what was promised', () => {
  const intact = (headers: Record<string, string>, body: (bytes: Buffer) => Buffer) => (bytes: Buffer) =>
    answer(200, headers, body(bytes));

  test.each<[string, (bytes: Buffer) => Reply, string]>([
    ['other bytes of the same length', intact({}, (bytes) => Buffer.alloc(bytes.length)), 'DOWNLOAD_DAMAGED'],
    ['a shorter file', intact({}, (bytes) => bytes.subarray(1)), 'DOWNLOAD_DAMAGED'],
    ['a longer file', intact({}, (bytes) => Buffer.concat([bytes, bytes])), 'DOWNLOAD_DAMAGED'],
    [
      'a compressed file',
      intact({ 'content-encoding': 'gzip' }, (bytes) => gzipSync(bytes)),
      'DOWNLOAD_ENCODED',
    ],
    [
      'a body without length that ends early',
      (bytes) => (_seen, response) => {
        response.socket?.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n');
        response.socket?.end(bytes.subarray(0, 1_000));
      },
      'ANSWER_CUT_OFF',
    ],
    [
      'a body without length that never ends',
      (bytes) => (_seen, response) => {
        const more = () => response.write(bytes) && setImmediate(more);
        response.on('drain', more);
        more();
      },
      'DOWNLOAD_DAMAGED',
    ],
  ])('%s never gets the final name', async (_what, fallback, code) => {
    const { client, server, asset, to, bytes } = await startDownload();
    server.fallback = fallback(bytes);
    const { facts } = await failureOf(client.download(asset, { to }));
    expect(facts.code).toBe(code);
    expect(existsSync(to)).toBe(false);
  });

  test.each(['HTTP/1.0', 'HTTP/1.1'])(
    'that ends with its %s connection, without a length, is refused unless size or hash is known',
    async (version) => {
      const { client, server, asset, to, bytes } = await startDownload();
      server.fallback = (_seen, response) => {
        response.socket?.write(`${version} 200 OK\r\nconnection: close\r\n\r\n`);
        response.socket?.end(bytes);
      };
      const { facts } = await failureOf(
        client.download({ ...asset, sha256: null, size_bytes: null }, { to }),
      );
      expect(facts.code).toBe('DOWNLOAD_UNVERIFIABLE');
      await client.download({ ...asset, size_bytes: null }, { to });
      await client.download({ ...asset, sha256: null }, { to, overwrite: true });
      expect((await readFile(to)).equals(bytes)).toBe(true);
    },
  );
});

describe('a failing disk', () => {
  test('is reported before anything is requested', async () => {
    const { client, server, asset, folder } = await startDownload(10);
    await writeFile(join(folder, 'file'), '');
    const { facts } = await failureOf(client.download(asset, { to: join(folder, 'file', 'video.mp4') }));
    expect(facts).toMatchObject({ category: 'disk', code: 'DISK_ERROR', retryable: false });
    expect(server.seen).toHaveLength(0);
  });

  test.each([
    ['a symbolic link', (part: string, folder: string) => symlinkSync(join(folder, 'elsewhere'), part)],
    ['a named pipe', (part: string) => execFileSync('mkfifo', [part])],
  ])('is not written to through %s instead of the part', async (_what, make) => {
    const { client, server, asset, to, part, folder } = await startDownload(10);
    make(part, folder);
    expect((await failureOf(client.download(asset, { to }))).facts.category).toBe('disk');
    expect(server.seen).toHaveLength(0);
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
  });

  test.each([
    ['the job says', { size_bytes: 300_000 }, (bytes: Buffer) => answer(200, {}, bytes), 'needs 300 kB more'],
    [
      'the answer says',
      { size_bytes: null, sha256: null },
      (bytes: Buffer) => answer(200, {}, bytes),
      'needs 300 kB more',
    ],
    ['nobody says', { size_bytes: null, sha256: null }, chunked, 'needs more than 200 kB more'],
  ])(
    'without space for the length that %s ends the download, with both sizes',
    async (_who, told, reply, words) => {
      const runtime = { ...createFakeRuntime(), freeBytes: async () => 200_000 };
      const { client, server, asset, bytes, to, folder } = await startDownload(300_000, { runtime });
      server.fallback = reply(bytes);
      const { facts } = await failureOf(client.download({ ...asset, ...told }, { to }));
      expect(facts).toMatchObject({ category: 'disk', code: 'DISK_FULL', retryable: false });
      expect(facts.message).toBe(`video.mp4 ${words}, and ${folder} has 200 kB free`);
      expect(server.seen).toHaveLength(1);
      expect(existsSync(to)).toBe(false);
    },
  );

  test('with space for what is still missing is enough', async () => {
    const runtime = { ...createFakeRuntime(), freeBytes: async () => 100_000 };
    const { client, asset, bytes, to, part } = await startDownload(300_000, { runtime });
    await writeFile(part, bytes.subarray(0, 200_000));
    await client.download(asset, { to });
    expect((await readFile(to)).equals(bytes)).toBe(true);
  });

  test('that accepts no more data ends the download immediately, without another request', async () => {
    const { server, asset, to } = await startDownload(3_000_000);
    const script = new URL('../support/download-once.ts', import.meta.url).pathname;
    // 1,000 blocks of 1,024 bytes; the signal of the limit is ignored, so that the write itself fails.
    const shell = 'trap "" XFSZ; ulimit -f 1000; exec "$0" "$@"';
    const args = ['-c', shell, process.execPath, script, server.baseUrl, JSON.stringify(asset), to];
    const { stdout } = await promisify(execFile)('bash', args);
    expect(JSON.parse(stdout)).toMatchObject({ category: 'disk', code: 'DISK_ERROR' });
    expect(server.seen).toHaveLength(1);
    expect(existsSync(to)).toBe(false);
  });
});
