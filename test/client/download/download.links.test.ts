import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { type DownloadOptions, Failure } from '../../../src/client/index.ts';
import { failureOf, onCleanup } from '../support/harness.ts';
import { answer, startServer } from '../support/scripted-server.ts';
import { startDownload } from '../support/start-download.ts';
import { serveBytes } from '../support/stored-bytes.ts';

const gone = new Failure({ category: 'refused', code: 'RESOURCE_NOT_FOUND', message: 'gone', status: 404 });

describe('a refused link', () => {
  test.each([401, 403, 404, 410])('(%i) is read once more from the job', async (status) => {
    const { client, server, asset, to, bytes } = await startDownload();
    server.script.push(answer(status, {}));
    let asked = 0;
    const refresh = async () => {
      asked += 1;
      return { ...asset, url: `${asset.url}&fresh=1` };
    };
    await client.download(asset, { to, refresh });
    expect(asked).toBe(1);
    expect((await readFile(to)).equals(bytes)).toBe(true);
    expect(server.seen.map((seen) => seen.target.includes('fresh'))).toEqual([false, true]);
  });

  test.each<[string, DownloadOptions['refresh'], number]>([
    ['there is nobody to ask', undefined, 1],
    ['the job has none', async () => null, 1],
    ['the job is gone', async () => Promise.reject(gone), 1],
  ])('ends as expired when %s, without another blind attempt', async (_why, refresh, requests) => {
    const { client, asset, to, server, folder, runtime } = await startDownload(10);
    server.fallback = answer(410, {});
    const { facts } = await failureOf(client.download(asset, { to, refresh }));
    expect(facts).toMatchObject({ category: 'expired', code: 'RESULT_EXPIRED' });
    expect(server.seen).toHaveLength(requests);
    expect(runtime.slept).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('ends as expired when the job has the same, or when the new one is refused too', async () => {
    const { client, asset, to, server } = await startDownload(10);
    server.fallback = answer(410, {});
    const same = await failureOf(client.download(asset, { to, refresh: async () => asset }));
    expect(same.facts.code).toBe('RESULT_EXPIRED');
    expect(server.seen).toHaveLength(1);
    let asked = 0;
    const refresh = async () => {
      asked += 1;
      return { ...asset, url: `${asset.url}&fresh=${asked}` };
    };
    const fresh = await failureOf(client.download(asset, { to, refresh }));
    expect(fresh.facts.code).toBe('RESULT_EXPIRED');
    expect(asked).toBe(1);
    expect(server.seen).toHaveLength(3);
  });
});

describe('a redirect of a download', () => {
  test('is followed up to five times, and no further', async () => {
    const { client, server, asset, to, bytes } = await startDownload();
    const hop = answer(302, { location: '/elsewhere' });
    server.script.push(hop, hop, hop, hop, hop);
    await client.download(asset, { to });
    expect((await readFile(to)).equals(bytes)).toBe(true);
    server.seen.length = 0;
    server.script.push(hop, hop, hop, hop, hop, hop);
    const { facts } = await failureOf(client.download(asset, { to, overwrite: true }));
    expect(facts.code).toBe('DOWNLOAD_REDIRECT_REFUSED');
    expect(server.seen).toHaveLength(6);
  });

  test.each(['http://storage.example/x', 'file:///etc/passwd', 'ftp://127.0.0.1/x', 'http://'])(
    'to %s is refused',
    async (location) => {
      const { client, server, asset, to } = await startDownload(10);
      server.script.push(answer(302, { location }));
      expect((await failureOf(client.download(asset, { to }))).facts.code).toBe('DOWNLOAD_REDIRECT_REFUSED');
    },
  );

  test('takes the Range along to the other host of this machine', async () => {
    const { client, server, asset, to, part, bytes } = await startDownload();
    const other = await startServer(serveBytes(bytes, '"v1"'));
    onCleanup(other.close);
    await writeFile(part, bytes.subarray(0, 1_000));
    server.script.push(answer(307, { location: `${other.origin}/mirror` }));
    await client.download(asset, { to });
    expect(other.seen[0]?.headers.range).toBe('bytes=1000-');
    expect((await readFile(to)).equals(bytes)).toBe(true);
  });

  test('an address that is plain http to another machine is not asked at all', async () => {
    const { client, asset, to } = await startDownload(10);
    const { facts } = await failureOf(client.download({ ...asset, url: 'http://storage.example/x' }, { to }));
    expect(facts.code).toBe('DOWNLOAD_ADDRESS_REFUSED');
  });
});
