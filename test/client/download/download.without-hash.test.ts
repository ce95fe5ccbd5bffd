/** Results of a service that states neither size nor hash: their type, their first bytes and their validator must do. */
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { RESULT_FORMATS } from '../../../src/protocol/result-formats.ts';
import { silentWav } from '../../support/wav.ts';
import { createFakeRuntime } from '../support/fake-runtime.ts';
import { failureOf } from '../support/harness.ts';
import { answer, cutAfter, type Reply } from '../support/scripted-server.ts';
import { startDownload } from '../support/start-download.ts';
import { serveBytes } from '../support/stored-bytes.ts';

const MP4 = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), Buffer.alloc(100_000, 'v')]);
const SRT = Buffer.from('\uFEFF1\r\n00:00:00,000 --> 00:00:01,000\r\nhola\r\n');
const PAGE = '<html><head><title>Sign in to Hotel WiFi</title></head></html>';
const { mp4, wav, srt } = RESULT_FORMATS;

/** A result of which only the address is known. */
async function startBare(reply: Reply, options: Parameters<typeof startDownload>[1] = {}) {
  const scene = await startDownload(0, options);
  scene.server.fallback = reply;
  const asset = { ...scene.asset, content_type: null, size_bytes: null, sha256: null };
  const parts = () => readdirSync(scene.folder).filter((name) => name.endsWith('.part'));
  return { ...scene, asset, parts };
}

const typed = (type: string, body: string | Buffer) => answer(200, { 'content-type': type }, body);

function chunked(body: Buffer, headers: Record<string, string> = {}): Reply {
  return (_seen, response) => {
    response.writeHead(200, headers);
    response.write(body.subarray(0, body.length / 2));
    response.end(body.subarray(body.length / 2));
  };
}

describe('an answer that is not a result', () => {
  test.each([
    [
      'a login page',
      typed('text/html; charset=utf-8', PAGE),
      mp4,
      'a web page instead of the MP4 video: Sign in to Hotel WiFi',
    ],
    ['an empty body', typed('video/mp4', ''), mp4, 'an empty body instead of the MP4 video'],
    [
      'another type',
      typed('application/json', '{"ok":true}'),
      wav,
      'application/json instead of the WAV file',
    ],
    [
      'other bytes under the right type',
      typed('video/mp4', Buffer.from(PAGE)),
      mp4,
      'sent something other than the MP4 video',
    ],
    ['a text without cues', typed('text/plain', '1\nHello\n'), srt, 'sent something other than the SRT file'],
  ])('(%s) is refused, and none of it is kept', async (_what, reply, format, words) => {
    const { client, asset, to, parts } = await startBare(reply);
    const { facts } = await failureOf(client.download(asset, { to, format }));
    expect(facts).toMatchObject({ category: 'temporary', code: 'DOWNLOAD_NOT_THE_RESULT', retryable: true });
    expect(facts.message).toContain(words);
    expect([existsSync(to), parts()]).toEqual([false, []]);
  });

  test('is requested again, because a login page may disappear a moment later', async () => {
    const { client, server, asset, to } = await startBare(typed('video/mp4', MP4));
    server.script.push(typed('text/html', PAGE), answer(200, {}, PAGE));
    await client.download(asset, { to, format: mp4 });
    expect((await readFile(to)).equals(MP4)).toBe(true);
  });

  test('is recognized as a web page or empty body even if the caller names no format', async () => {
    const { client, server, asset, to } = await startBare(typed('text/html', PAGE));
    expect((await failureOf(client.download(asset, { to }))).facts.code).toBe('DOWNLOAD_NOT_THE_RESULT');
    server.fallback = answer(200, {}, '');
    expect((await failureOf(client.download(asset, { to }))).facts.code).toBe('DOWNLOAD_NOT_THE_RESULT');
  });
});

test.each([
  ['no type', answer(200, {}, MP4), mp4, MP4],
  ['application/octet-stream', typed('application/octet-stream', silentWav()), wav, silentWav()],
  ['binary/octet-stream', typed('Binary/Octet-Stream', SRT), srt, SRT],
  ['a name that others use', typed('text/plain; charset=utf-8', SRT), srt, SRT],
  ['chunks', chunked(MP4, { 'content-type': 'video/mp4' }), mp4, MP4],
])('a result with %s is accepted if its first bytes are right', async (_how, reply, format, bytes) => {
  const { client, asset, to } = await startBare(reply);
  await client.download(asset, { to, format });
  expect((await readFile(to)).equals(bytes)).toBe(true);
});

describe('a chunked answer that breaks off', () => {
  const half = MP4.subarray(0, MP4.length / 2);
  test.each([
    ['with a closed connection', 'close'],
    ['on a connection that was to be kept', 'keep-alive'],
  ])('%s is detected, and continued under its ETag', async (_how, connection) => {
    const { client, server, asset, to } = await startBare(serveBytes(MP4, '"v1"'));
    server.script.push((_seen, response) => {
      const head = `HTTP/1.1 200 OK\r\nconnection: ${connection}\r\netag: "v1"\r\ntransfer-encoding: chunked\r\n\r\n`;
      response.socket?.write(`${head}${half.length.toString(16)}\r\n`);
      response.socket?.write(half);
      response.socket?.end('\r\n');
    });
    await client.download(asset, { to, format: mp4 });
    expect((await readFile(to)).equals(MP4)).toBe(true);
    expect(server.seen.map(({ headers }) => headers.range)).toEqual([undefined, `bytes=${half.length}-`]);
  });
});

/** Storage that knows Range and has never heard of If-Range. */
function withoutIfRange(bytes: Buffer, headers: Record<string, string>): Reply {
  return (seen, response, request) => {
    const { 'if-range': _, ...rest } = seen.headers;
    const set = response.writeHead.bind(response);
    response.writeHead = ((status: number, given: Record<string, string>) => {
      const { etag: _etag, ...kept } = given;
      return set(status, { ...kept, ...headers });
    }) as typeof response.writeHead; // the only form that `serveBytes` calls
    serveBytes(bytes, '')({ ...seen, headers: rest }, response, request);
  };
}

describe('the rest of another file', () => {
  const other = Buffer.concat([MP4.subarray(0, 12), Buffer.alloc(MP4.length - 12, 'w')]);
  const begun = MP4.subarray(0, 50_000);
  const [monday, tuesday] = ['Mon, 02 Nov 2026 10:00:00 GMT', 'Tue, 03 Nov 2026 10:00:00 GMT'];

  test.each([
    ['another ETag', { etag: '"v1"' }, { etag: '"v2"' }],
    ['no longer an ETag', { etag: '"v1"' }, {}],
    ['another Last-Modified', { 'last-modified': monday }, { 'last-modified': tuesday }],
  ])('(%s) is not appended: the download starts over', async (_what, before, after) => {
    const { client, server, asset, to, events } = await startBare(withoutIfRange(other, after));
    server.script.push(cutAfter(MP4.length, begun, before));
    await client.download(asset, { to, format: mp4 });
    expect((await readFile(to)).equals(other)).toBe(true);
    const [first, second, third] = server.seen.map(({ headers }) => headers);
    expect([first?.range, second?.range, third?.range]).toEqual([undefined, 'bytes=50000-', undefined]);
    expect(second?.['if-range']).toBe(Object.values(before)[0]);
    expect(events).toContainEqual(expect.objectContaining({ code: 'DOWNLOAD_RESTARTED' }));
  });

  test.each([['under the same ETag', { etag: '"v1"' }]])(
    '%s is accepted as the rest of this one',
    async (_what, validator) => {
      const { client, server, asset, to } = await startBare(withoutIfRange(MP4, validator));
      server.script.push(cutAfter(MP4.length, begun, validator));
      await client.download(asset, { to, format: mp4 });
      expect((await readFile(to)).equals(MP4)).toBe(true);
      expect(server.seen).toHaveLength(2);
    },
  );

  test('is not requested under a date of the same second, nor under a weak ETag', async () => {
    const now = new Date().toUTCString();
    for (const validator of [
      { date: now, 'last-modified': now },
      { etag: 'W/"v1"', 'last-modified': monday },
    ]) {
      const { client, server, asset, to } = await startBare(answer(200, {}, MP4));
      server.script.push(cutAfter(MP4.length, begun, validator));
      await client.download(asset, { to, format: mp4 });
      expect(server.seen.map(({ headers }) => headers.range)).toEqual([undefined, undefined]);
    }
  });

  test.each([
    ['another start', `bytes 0-${MP4.length - 50_001}/${MP4.length}`],
    ['more bytes than declared', `bytes 50000-60000/${MP4.length}`],
    ['no range at all', undefined],
  ])('with a Content-Range that names %s is not appended', async (_what, range) => {
    const { client, server, asset, to } = await startBare(answer(200, { etag: '"v1"' }, MP4));
    const headers: Record<string, string> = range === undefined ? {} : { 'content-range': range };
    server.script.push(
      cutAfter(MP4.length, begun, { etag: '"v1"' }),
      answer(206, { etag: '"v1"', ...headers }, MP4.subarray(50_000)),
    );
    await client.download(asset, { to, format: mp4 });
    expect((await readFile(to)).equals(MP4)).toBe(true);
    expect(server.seen).toHaveLength(3);
  });
});

test('a very slow connection is given up with its figures, and the received part is continued', async () => {
  const pending = new Set<() => void>();
  const runtime = {
    ...createFakeRuntime(),
    timer(_ms: number, expire: () => void) {
      pending.add(expire);
      return () => void pending.delete(expire);
    },
  };
  const { client, server, asset, to, events } = await startBare(serveBytes(MP4, '"v1"'), { runtime });
  server.script.push((_seen, response) => {
    response.writeHead(200, { 'content-length': MP4.length, etag: '"v1"' });
    response.write(MP4.subarray(0, 300));
  });
  // The time is over once these bytes have come, whatever the clock of the machine says.
  const onProgress = (bytes: number) => {
    if (bytes === 300) for (const expire of [...pending]) expire();
  };
  await client.download(asset, { to, format: mp4, onProgress });
  expect((await readFile(to)).equals(MP4)).toBe(true);
  expect(server.seen.map(({ headers }) => headers.range)).toEqual([undefined, 'bytes=300-']);
  const { host } = new URL(server.origin);
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'retry',
      code: 'DOWNLOAD_TOO_SLOW',
      message: `${host} sent 300 B in 1 min; with less than 16.4 kB in that time a download is stopped`,
    }),
  );
});

describe('a refusal by storage', () => {
  const xml = (code: string, message: string) =>
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message><AWSAccessKeyId>AKIA-canary</AWSAccessKeyId></Error>`;
  test.each([
    [
      403,
      xml('AccessDenied', 'Request has &lt;expired&gt;'),
      ' (status 403: AccessDenied: Request has <expired>)',
    ],
    // Servers written in Go write quotes as numbers.
    [404, xml('NoSuchBucket', 'no &#39;a&#34;&#27;'), ` (status 404: NoSuchBucket: no 'a")`],
    [400, xml('InvalidRequest', '\u001b[31mred'), ' (status 400: InvalidRequest: [31mred)'],
    [410, '', ' (status 410)'],
  ])('with %i is shown by its code and message only', async (status, body, words) => {
    const { client, asset, to } = await startBare(
      answer(status, { 'content-type': 'application/xml' }, body),
    );
    const { facts } = await failureOf(client.download(asset, { to, format: mp4 }));
    expect(facts.message.endsWith(words)).toBe(true);
  });
});
