import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type DownloadOptions, Failure } from '../../../src/client/index.ts';
import { failureOf } from '../support/harness.ts';
import { answer, html, startServer } from '../support/scripted-server.ts';
import { startDownload } from '../support/start-download.ts';
import { serveBytes } from '../support/stored-bytes.ts';

const notFound = { category: 'refused', code: 'RESOURCE_NOT_FOUND', message: 'gone', status: 404 } as const;
const gone = new Failure({ ...notFound, origin: 'api', blame: 'request' });
const XML = '<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>';

describe('a refused link', () => {
  test.each([403, 410])('(%i) is read once more from the job', async (status) => {
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
    ['no job is known', undefined, 1],
    ['the job has no link', async () => null, 1],
    ['the job was deleted', async () => Promise.reject(gone), 1],
  ])('ends as expired if %s, without another blind attempt', async (_why, refresh, requests) => {
    const { client, asset, to, server, folder, runtime } = await startDownload(10);
    server.fallback = answer(410, {});
    const { facts } = await failureOf(client.download(asset, { to, refresh }));
    expect(facts).toMatchObject({ category: 'expired', code: 'RESULT_EXPIRED' });
    expect(server.seen).toHaveLength(requests);
    expect(runtime.slept).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('ends as expired if the job has the same one, or if the new one is refused too', async () => {
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

describe('a link that stays refused', () => {
  const IN_AN_HOUR = 3_600_000;

  test('says until when the result can be downloaded, and does not request a new job', async () => {
    const { client, asset, to, server, runtime } = await startDownload(10);
    server.fallback = answer(403, { 'content-type': 'application/xml' }, XML);
    const expires_at = new Date(runtime.now() + IN_AN_HOUR).toISOString();
    const kept = { ...asset, expires_at };
    const { facts } = await failureOf(client.download(kept, { to, refresh: async () => kept }));
    expect(facts).toMatchObject({
      category: 'expired',
      code: 'LINK_REFUSED',
      origin: 'storage',
      blame: 'link',
      status: 403,
      message: `storage refused the download address of video.mp4 (status 403: AccessDenied: Access Denied); it can be downloaded until ${expires_at.slice(0, 10)} ${expires_at.slice(11, 16)} UTC`,
    });
    expect(facts.advice).toMatch(/^Run the same command again before then: the job is paid/);
    expect(server.seen).toHaveLength(1);
  });

  test('is tried again if the job says that it is valid for longer, and only once', async () => {
    const { client, asset, to, server, runtime } = await startDownload(10);
    server.fallback = answer(403, {}, XML);
    const longer = { ...asset, expires_at: new Date(runtime.now() + IN_AN_HOUR).toISOString() };
    const soon = { ...asset, expires_at: new Date(runtime.now() + 1_000).toISOString() };
    const { facts } = await failureOf(client.download(soon, { to, refresh: async () => longer }));
    expect(server.seen).toHaveLength(2);
    expect(facts.message).toContain(longer.expires_at.slice(0, 10));
    expect(facts.message).toContain(longer.expires_at.slice(11, 16));
  });

  test('has expired by the clock of storage, whatever the clock of this machine says', async () => {
    const { client, asset, to, server, runtime } = await startDownload(10);
    const expires_at = new Date(runtime.now() + IN_AN_HOUR).toISOString();
    const refuseAt = (ms: number) => answer(403, { date: new Date(ms).toUTCString() }, XML);
    server.script.push(refuseAt(runtime.now() + 2 * IN_AN_HOUR));
    const expired = await failureOf(client.download({ ...asset, expires_at }, { to }));
    expect(expired.facts).toMatchObject({ code: 'RESULT_EXPIRED', category: 'expired' });
    server.script.push(refuseAt(runtime.now()));
    runtime.advance(30 * 24 * IN_AN_HOUR);
    const kept = await failureOf(client.download({ ...asset, expires_at }, { to }));
    expect(kept.facts.code).toBe('LINK_REFUSED');
  });

  test('by a page of a firewall blames neither link nor job', async () => {
    const { client, asset, to, server } = await startDownload(10);
    server.fallback = html(403, '<h1>Blocked by policy</h1>');
    const { facts } = await failureOf(client.download(asset, { to, refresh: async () => asset }));
    expect(facts).toMatchObject({ category: 'configuration', code: 'NOT_THE_STORAGE', origin: 'gateway' });
    expect(facts.message).toBe(
      'a proxy, gateway or firewall in front of storage refused the request (status 403: Blocked by policy)',
    );
  });

  test('does not count as a deleted job if a gateway answers 404 instead of the API', async () => {
    const { client, asset, to, server } = await startDownload(10);
    server.fallback = answer(403, {}, XML);
    const page = new Failure({ ...notFound, origin: 'gateway', blame: 'gateway' });
    const { facts } = await failureOf(client.download(asset, { to, refresh: () => Promise.reject(page) }));
    expect(facts).toMatchObject({ code: 'RESOURCE_NOT_FOUND', origin: 'gateway' });
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

  test.each(['http://storage.example/x', 'file:///etc/passwd'])('to %s is refused', async (location) => {
    const { client, server, asset, to } = await startDownload(10);
    server.script.push(answer(302, { location }));
    expect((await failureOf(client.download(asset, { to }))).facts.code).toBe('DOWNLOAD_REDIRECT_REFUSED');
  });

  test('sends the Range to the other host of this machine too', async () => {
    const { client, server, asset, to, part, bytes } = await startDownload();
    const other = await startServer(serveBytes(bytes, '"v1"'));
    onTestFinished(other.close);
    await writeFile(part, bytes.subarray(0, 1_000));
    server.script.push(answer(307, { location: `${other.origin}/mirror` }));
    await client.download(asset, { to });
    expect(other.seen[0]?.headers.range).toBe('bytes=1000-');
    expect((await readFile(to)).equals(bytes)).toBe(true);
  });

  test('sends no request to an address that is plain http on another machine', async () => {
    const { client, asset, to } = await startDownload(10);
    const { facts } = await failureOf(client.download({ ...asset, url: 'http://storage.example/x' }, { to }));
    expect(facts.code).toBe('DOWNLOAD_ADDRESS_REFUSED');
  });
});
