import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { createMovableClock } from '../../../src/service/control/clock.ts';
import { until } from '../harness/scene.ts';
import { networkWith, startPlain, startSecure } from '../outgoing/outside.ts';
import { failureOf, fetchTo, makeTarget, serve } from './fetching.ts';

test.each([
  ['http', startPlain],
  ['https', startSecure],
])(
  'the bytes of an address arrive whole over %s, in a file readable by the owner only',
  async (_name, startOutside) => {
    const bytes = randomBytes(300_000);
    const outside = await startOutside((_request, response) => response.end(bytes));
    const { path } = await makeTarget();
    await fetchTo(path, `${outside.origin}/video.mp4`);
    expect((await readFile(path)).equals(bytes)).toBe(true);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(outside.requests[0]?.headers['accept-encoding']).toBe('identity');
  },
);

describe('without loopback allowed', () => {
  it.each(['127.0.0.1', '::ffff:10.0.0.1', '10.0.0.7'])(
    'a name that leads to %s is blocked',
    async (answer) => {
      const network = networkWith([[answer]], false);
      const failure = await failureOf('https://a.example/', { network });
      expect(failure.code).toBe('SOURCE_BLOCKED');
      expect(failure.message).toContain('POST /uploads');
      expect(failure.message).not.toContain(answer);
      expect(network.dialled).toEqual([]);
    },
  );
});

describe('the limit of bytes', () => {
  it('is checked in the head, before a byte is read', async () => {
    let sent = false;
    const outside = await serve((response) => {
      response.writeHead(200, { 'Content-Length': String(1024 ** 3) });
      response.flushHeaders();
      sent = true;
    });
    expect(await failureOf(outside.origin)).toMatchObject({ code: 'SOURCE_TOO_LARGE', retryable: false });
    expect(sent).toBe(true);
  });

  it('applies to a body of unknown length; one byte less is fine', async () => {
    const outside = await serve((response) => {
      response.write('x'.repeat(60));
      response.end('x'.repeat(40));
    });
    expect((await failureOf(outside.origin, { refusedSize: 100 })).code).toBe('SOURCE_TOO_LARGE');
    const { path } = await makeTarget();
    await fetchTo(path, outside.origin, { refusedSize: 101 });
    expect((await stat(path)).size).toBe(100);
  });

  it('ends a body that never ends', async () => {
    const outside = await serve((response) => {
      const more = () => {
        if (!response.destroyed && response.write('x'.repeat(1000))) setImmediate(more);
      };
      response.on('drain', more);
      more();
    });
    expect((await failureOf(outside.origin, { refusedSize: 100_000 })).code).toBe('SOURCE_TOO_LARGE');
  });
});

describe('an untrusted answer', () => {
  const cases: [string, (response: ServerResponse) => void, string][] = [
    ['breaks off within its length', breakOff({ 'Content-Length': '1000' }), 'dropped the connection'],
    ['breaks off within its chunks', breakOff({ 'Transfer-Encoding': 'chunked' }), 'dropped the connection'],
    [
      'does not say how long it is',
      (response) => response.socket?.end('HTTP/1.1 200 OK\r\n\r\nabc'),
      'how long',
    ],
    [
      'is compressed',
      (response) => response.setHeader('Content-Encoding', 'gzip').end(gzipSync('abc')),
      'compressed',
    ],
    ['is empty', (response) => response.end(), 'empty'],
    ['requires a login', (response) => response.writeHead(401).end(), 'without a login'],
    ['is a part', (response) => response.writeHead(206).end('abc'), '206'],
    ['has no file', (response) => response.writeHead(404).end('no'), '404'],
  ];

  function breakOff(headers: Record<string, string>) {
    return (response: ServerResponse) => {
      response.writeHead(200, headers);
      response.write('abc', () => response.destroy());
    };
  }

  it.each(cases)('is refused because it %s', async (_name, answer, words) => {
    const outside = await serve(answer);
    const failure = await failureOf(outside.origin);
    expect(failure).toMatchObject({ code: 'SOURCE_UNREACHABLE', retryable: true });
    expect(failure.message).toContain(words);
    expect(failure.message).not.toContain('127.0.0.1');
  });
});

describe('another attempt', () => {
  const answering = async (status: number) =>
    (await serve((response) => response.writeHead(status).end())).origin;

  it.each([408, 429, 503])('may succeed after status %i', async (status) => {
    expect(await failureOf(await answering(status))).toMatchObject({ permanent: false });
  });

  it.each([401, 404, 410])('would fail the same way after status %i', async (status) => {
    expect(await failureOf(await answering(status))).toMatchObject({ permanent: true });
  });

  it.each([
    ['ENOTFOUND', true],
    ['CERT_HAS_EXPIRED', true],
    ['ERR_SSL_WRONG_VERSION_NUMBER', true],
    ['EAI_AGAIN', false],
    ['ECONNREFUSED', false],
    ['ETIMEDOUT', false],
  ])('after the network error %s would fail the same way: %s', async (code, permanent) => {
    const resolver = () => Promise.reject(Object.assign(new Error('lookup'), { code }));
    const failure = await failureOf('https://media.example/', { network: { ...networkWith(), resolver } });
    expect(failure).toMatchObject({ code: 'SOURCE_UNREACHABLE', permanent });
  });
});

describe('time', () => {
  it('is limited to 30 s for the head', async () => {
    const clock = createMovableClock();
    const outside = await serve(() => clock.advance(30_000));
    expect((await failureOf(outside.origin, { clock })).message).toContain('within 30 s');
  });

  const trickle = async (advance: (clock: ReturnType<typeof createMovableClock>) => void) => {
    const clock = createMovableClock();
    const { folder, path } = await makeTarget();
    const outside = await serve((response) => response.write('x'));
    const outcome = fetchTo(path, outside.origin, { clock }).catch((error) => error);
    await until(async () => (await readdir(folder)).length === 1);
    advance(clock);
    const failure = await outcome;
    expect(await readdir(folder)).toEqual([]);
    return failure;
  };

  it('is limited for a body that stalls', async () => {
    const failure = await trickle((clock) => {
      clock.advance(60_000);
      clock.advance(60_000);
    });
    expect(failure.code).toBe('SOURCE_UNREACHABLE');
  });

  it('is limited to an hour in total', async () => {
    const failure = await trickle((clock) => clock.advance(3_600_000));
    expect(failure.code).toBe('SOURCE_UNREACHABLE');
  });

  it('ends with the job', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const outside = await serve((response) => {
      response.write('x', () => controller.abort(reason));
    });
    expect(await failureOf(outside.origin, { signal: controller.signal })).toBe(reason);
  });
});

test('a failure of our own disk is not blamed on the source', async () => {
  const outside = await serve((response) => response.end('abc'));
  const { folder } = await makeTarget();
  const call = fetchTo(join(folder, 'missing', 'source'), outside.origin);
  await expect(call).rejects.toMatchObject({ code: 'ENOENT' });
});
