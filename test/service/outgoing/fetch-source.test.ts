import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { fetchSource } from '../../../src/service/outgoing/fetch-source.ts';
import type { Network } from '../../../src/service/outgoing/request.ts';
import { createMovingClock } from '../harness/moving-clock.ts';
import { until } from '../harness/scene.ts';
import { networkWith, type Outside, startPlain, startSecure } from './outside.ts';

async function makeTarget(): Promise<{ folder: string; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'vloc-fetch-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return { folder, path: join(folder, 'source') };
}

interface Options {
  readonly network?: Network;
  readonly refusedSize?: number;
  readonly signal?: AbortSignal;
  readonly clock?: ReturnType<typeof createMovingClock>;
}

async function fetchTo(path: string, address: string, options: Options = {}): Promise<void> {
  const { signal } = new AbortController();
  const given = { network: networkWith(), clock: createMovingClock(), signal, ...options };
  await fetchSource(address, 'source_video', path, given);
}

/** The failure of a fetch, after a look that nothing was left behind. */
async function failureOf(address: string, options: Options = {}) {
  const { folder, path } = await makeTarget();
  const failure = await fetchTo(path, address, options).then(
    () => null,
    (error) => error,
  );
  expect(await readdir(folder)).toEqual([]);
  return failure;
}

const serve = (answer: (response: ServerResponse, request: IncomingMessage) => void): Promise<Outside> =>
  startPlain((request, response) => answer(response, request));

test.each([
  ['http', startPlain],
  ['https', startSecure],
])(
  'the bytes of an address arrive whole over %s, in a file for the owner alone',
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

describe('redirects', () => {
  const redirectTo = (target: (path: string) => string | null) =>
    serve((response, request) => {
      const location = target(request.url ?? '');
      if (location === null) response.end('there');
      else response.writeHead(302, { Location: location }).end();
    });
  const countDown = (path: string) => {
    const left = Number(path.slice(1));
    return left === 0 ? null : `/${left - 1}`;
  };

  it('are followed five times, relative ones too', async () => {
    const outside = await redirectTo(countDown);
    const { path } = await makeTarget();
    await fetchTo(path, `${outside.origin}/5`);
    expect(await readFile(path, 'utf8')).toBe('there');
  });

  it('are not followed a sixth time', async () => {
    const outside = await redirectTo(countDown);
    expect(await failureOf(`${outside.origin}/6`)).toMatchObject({ code: 'SOURCE_UNREACHABLE' });
    expect(outside.requests).toHaveLength(6);
  });

  it.each([
    ['a private address', 'https://10.0.0.1/secret'],
    ['cloud metadata', 'http://169.254.169.254/secret'],
    ['another port', 'https://example.com:8443/secret'],
    ['plain http', 'http://example.com/secret'],
    ['user name and password', 'https://a:b@example.com/secret'],
    ['another scheme', 'file:///etc/secret'],
  ])('to %s are refused, without a word of where they lead', async (_name, target) => {
    const outside = await redirectTo(() => target);
    const network = networkWith([['1.1.1.1']]);
    const failure = await failureOf(outside.origin, { network });
    expect(failure).toMatchObject({ code: 'SOURCE_BLOCKED', message: expect.stringContaining('redirects') });
    expect(failure.message).not.toMatch(/secret|10\.0|169\.254|8443|example/);
    expect([network.asked, network.dialled.length]).toEqual([[], 1]);
  });

  it('to a name that leads into a private network are refused', async () => {
    const outside = await redirectTo(() => 'https://inside.example/');
    const network = networkWith([['10.0.0.1']]);
    const failure = await failureOf(outside.origin, { network });
    expect(failure.code).toBe('SOURCE_BLOCKED');
    expect(failure.message).not.toContain('10.0.0.1');
    expect(network.dialled).toHaveLength(1);
  });

  it.each([
    ['http', startPlain],
    ['https', startSecure],
  ])('from outside to this machine are refused over %s, also with loopback allowed', async (_name, start) => {
    const inside = await start((_request, response) => response.end('inside'));
    const outside = await startSecure((_request, response) =>
      response.writeHead(302, { Location: inside.origin }).end(),
    );
    const network = {
      ...networkWith([['127.0.0.1']]),
      dial: () => connect({ host: '127.0.0.1', port: outside.port }),
    };
    const failure = await failureOf('https://media.example/a.mp4', { network });
    expect(failure).toMatchObject({ code: 'SOURCE_BLOCKED', message: expect.stringContaining('redirects') });
    expect(outside.requests).toHaveLength(1);
    expect(inside.connections()).toBe(0);
  });

  it('within this machine are refused unless loopback is allowed', async () => {
    const outside = await redirectTo((path) => (path === '/start' ? '/end' : null));
    const { path } = await makeTarget();
    await fetchTo(path, `${outside.origin}/start`);
    const closed = networkWith([], false);
    expect((await failureOf(`${outside.origin}/start`, { network: closed })).code).toBe('SOURCE_BLOCKED');
    expect(outside.requests).toHaveLength(2);
  });

  it('without a target are reported', async () => {
    const outside = await serve((response) => response.writeHead(301).end());
    expect((await failureOf(outside.origin)).message).toContain('without saying where');
  });
});

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
  it('is seen in the head, before a byte is taken', async () => {
    let sent = false;
    const outside = await serve((response) => {
      response.writeHead(200, { 'Content-Length': String(1024 ** 3) });
      response.flushHeaders();
      sent = true;
    });
    expect(await failureOf(outside.origin)).toMatchObject({ code: 'SOURCE_TOO_LARGE', retryable: false });
    expect(sent).toBe(true);
  });

  it('holds for a body of unknown length; one byte less is fine', async () => {
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

describe('an answer that cannot be trusted', () => {
  const cases: [string, (response: ServerResponse) => void, string][] = [
    ['breaks off within its length', breakOff({ 'Content-Length': '1000' }), 'broke off'],
    ['breaks off within its chunks', breakOff({ 'Transfer-Encoding': 'chunked' }), 'broke off'],
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
    ['asks for a login', (response) => response.writeHead(401).end(), 'without a login'],
    ['is a part', (response) => response.writeHead(206).end('abc'), '206'],
    ['has no file', (response) => response.writeHead(404).end('no'), '404'],
  ];

  function breakOff(headers: Record<string, string>) {
    return (response: ServerResponse) => {
      response.writeHead(200, headers);
      response.write('abc', () => response.destroy());
    };
  }

  it.each(cases)('because it %s is refused', async (_name, answer, words) => {
    const outside = await serve(answer);
    const failure = await failureOf(outside.origin);
    expect(failure).toMatchObject({ code: 'SOURCE_UNREACHABLE', retryable: true });
    expect(failure.message).toContain(words);
    expect(failure.message).not.toContain('127.0.0.1');
  });
});

describe('time', () => {
  it('is limited to 30 s for the head', async () => {
    const clock = createMovingClock();
    const outside = await serve(() => clock.advance(30_000));
    expect((await failureOf(outside.origin, { clock })).message).toContain('within 30 s');
  });

  const trickle = async (advance: (clock: ReturnType<typeof createMovingClock>) => void) => {
    const clock = createMovingClock();
    const { folder, path } = await makeTarget();
    const outside = await serve((response) => response.write('x'));
    const outcome = fetchTo(path, outside.origin, { clock }).catch((error) => error);
    await until(
      () => readdir(folder),
      (names) => names.length === 1,
    );
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

  it('is limited to an hour in all', async () => {
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
