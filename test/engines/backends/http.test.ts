import { once } from 'node:events';
import { createServer } from 'node:net';
import * as v from 'valibot';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createServer as connect,
  jsonBody,
  type Server,
  ServerRefusal,
} from '../../../src/engines/backends/http.ts';
import type { BackendParts } from '../../../src/engines/backends/parts.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { temporaryFolder } from '../workspace.ts';
import { recordedParts, startServer } from './loopback-server.ts';

const KEY = 'sk-very-secret-0123456789';
const MIB = 1024 * 1024;

interface Options {
  readonly entry?: Partial<Parameters<typeof connect>[0]>;
  readonly parts?: BackendParts;
  readonly keyIn?: 'header' | 'caller';
}

function client(
  url: string,
  { entry = {}, parts = recordedParts(), keyIn = 'header' }: Options = {},
): Server {
  const server = connect({ url, ...entry }, { name: 'openai tiny', timeout: 60, keyIn }, parts);
  onTestFinished(() => server.close());
  return server;
}

function run(signal = new AbortController().signal) {
  return { signal, folder: temporaryFolder() };
}

async function failureOf(promise: Promise<unknown>): Promise<JobFailure> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof JobFailure) return error;
  throw new Error('no job failure', { cause: error });
}

const Ok = v.object({ ok: v.boolean() });
const ask = (server: Server, signal?: AbortSignal) =>
  server.sendForJson({ path: '/ask', body: jsonBody({ question: 1 }) }, Ok, run(signal));

describe('a call to a server', () => {
  it('is sent below the address, with the key in the header', async () => {
    const server = await startServer(() => ({ body: { ok: true } }));
    const options = {
      entry: { key: { env: 'ASR_KEY' } },
      parts: recordedParts({ env: { ASR_KEY: ` ${KEY}\n` } }),
    };
    await expect(ask(client(`${server.url}/?api-version=2`, options))).resolves.toEqual({ ok: true });
    const [request] = server.received;
    expect(request).toMatchObject({ method: 'POST', path: '/v1/ask?api-version=2' });
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    });
    expect(request?.body.toString()).toBe('{"question":1}');
  });

  it('has no key in the header where the caller sends it in the body', async () => {
    const server = await startServer(() => ({ body: { ok: true } }));
    const parts = recordedParts({ env: { ASR_KEY: KEY } });
    await ask(client(server.url, { entry: { key: { env: 'ASR_KEY' } }, parts, keyIn: 'caller' }));
    expect(server.received[0]?.headers.authorization).toBeUndefined();
  });

  it('uses one connection for several calls, and closes it in the end', async () => {
    const server = await startServer(() => ({ body: { ok: true } }));
    const http = client(server.url);
    await ask(http);
    await ask(http);
    expect(server.open.size).toBe(1);
    const [socket] = server.open;
    const closed = socket === undefined ? Promise.resolve() : once(socket, 'close');
    http.close();
    await closed;
    expect(server.open.size).toBe(0);
  });

  it('opens a new connection without a pause if the server has closed the idle one', async () => {
    const server = await startServer((_, number) =>
      number === 2 ? (response) => void response.socket?.destroy() : { body: { ok: true } },
    );
    const parts = recordedParts();
    const http = client(server.url, { parts });
    await ask(http);
    await ask(http);
    expect(server.received.length).toBe(3);
    expect(parts.pauses).toEqual([]);
  });
});

describe('a server that is busy or failing', () => {
  it('is asked again after a pause, with the same body', async () => {
    const server = await startServer((_, number) =>
      number < 3 ? { status: number === 1 ? 429 : 503 } : { body: { ok: true } },
    );
    const parts = recordedParts();
    await expect(ask(client(server.url, { parts }))).resolves.toEqual({ ok: true });
    expect(server.received.map(({ body }) => body.toString())).toEqual(Array(3).fill('{"question":1}'));
    expect(parts.pauses[0]).toBeGreaterThanOrEqual(1_500);
    expect(parts.pauses[0]).toBeLessThanOrEqual(2_500);
    expect(parts.pauses[1]).toBeGreaterThanOrEqual(3_000);
    expect(parts.pauses[1]).toBeLessThanOrEqual(5_000);
  });

  it('is waited for as long as it asks, but at most a minute', async () => {
    const date = 'Sun, 22 Nov 2026 21:00:00 GMT';
    const asked = ['7', 'Sun, 22 Nov 2026 21:00:05 GMT', '9999'];
    const server = await startServer((_, number) => {
      const after = asked[number - 1];
      if (after === undefined) return { body: { ok: true } };
      return { status: 429, headers: { 'Retry-After': after, Date: date } };
    });
    const parts = recordedParts();
    await ask(client(server.url, { parts }));
    expect(parts.pauses).toEqual([7_000, 5_000, 60_000]);
  });

  it('is asked six times, then the failure shows its message and may pass', async () => {
    const server = await startServer(() => ({
      status: 500,
      body: { error: { message: 'CUDA out of memory' } },
    }));
    const parts = recordedParts();
    const failure = await failureOf(ask(client(server.url, { parts })));
    expect(failure).toMatchObject({ code: 'ENGINE_ERROR', permanent: false });
    expect(failure.message).toMatch(
      /^openai tiny: 127\.0\.0\.1:\d+ answered with 500 \(CUDA out of memory\) \(6 tries\); see the log of the server$/,
    );
    expect(server.received.length).toBe(6);
    expect(parts.pauses.length).toBe(5);
    expect(parts.warnings).toEqual([expect.stringContaining('trying again')]);
  });

  it('is given up after two minutes of pauses', async () => {
    const server = await startServer(() => ({ status: 503, headers: { 'Retry-After': '50' } }));
    const parts = recordedParts();
    await failureOf(ask(client(server.url, { parts })));
    expect(parts.pauses).toEqual([50_000, 50_000]);
  });

  it('is not asked again if the account has no money left', async () => {
    const error = { message: 'You exceeded your current quota', type: 'insufficient_quota' };
    const server = await startServer(() => ({ status: 429, body: { error } }));
    const failure = await failureOf(ask(client(server.url)));
    expect(failure.permanent).toBe(true);
    expect(failure.message).toContain('You exceeded your current quota');
    expect(server.received.length).toBe(1);
  });

  it('is asked again after a connection that breaks off, before and within the answer', async () => {
    const server = await startServer((_, number) => {
      if (number === 1) return (response) => void response.socket?.destroy();
      if (number > 2) return { body: { ok: true } };
      return (response) => {
        response.writeHead(200, { 'Content-Length': '1000' });
        response.write('{"ok":', () => response.socket?.destroy());
      };
    });
    await expect(ask(client(server.url))).resolves.toEqual({ ok: true });
    expect(server.received.length).toBe(3);
  });

  it('that does not run is reported with its address and what to check', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const address = closed.address();
    const port = typeof address === 'object' ? address?.port : 0;
    closed.close();
    await once(closed, 'close');
    const failure = await failureOf(ask(client(`http://127.0.0.1:${port}/v1`)));
    expect(failure.permanent).toBe(false);
    expect(failure.message).toBe(
      `openai tiny: 127.0.0.1:${port}: it refused the connection (6 tries); check that the server runs, and "url" of this engine in engines.json`,
    );
  });
});

describe('a server that refuses', () => {
  const cases = [
    ['the form of OpenAI', { error: { message: 'The model `x` does not exist', code: 'model_not_found' } }],
    ['a plain error', { error: 'The model `x` does not exist' }],
    ['the form of FastAPI', { detail: 'The model `x` does not exist' }],
    ['a message', { message: 'The model `x` does not exist' }],
    ['text', 'The model `x` \u001b[31mdoes not\r\nexist'],
  ] as const;
  it.each(cases)('is not asked again, and its message is shown: %s', async (_, body) => {
    const server = await startServer(() => ({ status: 404, body }));
    const failure = await failureOf(ask(client(server.url)));
    expect(failure).toBeInstanceOf(ServerRefusal);
    expect(failure).toMatchObject({ permanent: true, status: 404 });
    expect(failure.message.replace(' [31m', '')).toMatch(
      /^openai tiny: 127\.0\.0\.1:\d+ answered with 404 \(The model `x` ?does not exist\); check "url" and "model" of this engine in engines\.json$/,
    );
    expect(server.received.length).toBe(1);
  });

  it('is quoted with at most 300 characters', async () => {
    const server = await startServer(() => ({ status: 400, body: { error: 'x'.repeat(50_000) } }));
    const failure = await failureOf(ask(client(server.url)));
    expect(failure.message).toContain(`(${'x'.repeat(300)})`);
  });

  it('with the wrong key leads to the variable that holds it', async () => {
    const server = await startServer(() => ({ status: 401, body: { error: { message: `Bad key ${KEY}` } } }));
    const parts = recordedParts({ env: { ASR_KEY: KEY } });
    const failure = await failureOf(ask(client(server.url, { entry: { key: { env: 'ASR_KEY' } }, parts })));
    expect(failure.message).toContain('Bad key [key]');
    expect(failure.message).toContain('check the key (variable ASR_KEY)');
    expect(JSON.stringify(parts.warnings) + failure.message + failure.stack).not.toContain(KEY);
  });

  it('without a key is explained', async () => {
    const server = await startServer(() => ({ status: 401 }));
    const failure = await failureOf(ask(client(server.url)));
    expect(failure.message).toContain('"key": {"env": "NAME"}');
  });

  it('at an address without version leads to the address', async () => {
    const server = await startServer(() => ({ status: 404, body: '<!doctype html><p>nginx' }));
    const failure = await failureOf(ask(client(server.url.replace('/v1', ''))));
    expect(failure.message).toContain('(a web page)');
    expect(failure.message).toContain('ends with /v1');
  });

  it('by a redirect gets nothing at the other address', async () => {
    const other = await startServer(() => ({ body: { ok: true } }));
    const server = await startServer(() => ({
      status: 307,
      headers: { Location: `${other.url}/ask?token=1` },
    }));
    const parts = recordedParts({ env: { ASR_KEY: KEY } });
    const failure = await failureOf(ask(client(server.url, { entry: { key: { env: 'ASR_KEY' } }, parts })));
    expect(failure.permanent).toBe(true);
    expect(failure.message).toContain(`redirects to ${new URL(other.url).origin};`);
    expect(other.received).toEqual([]);
    expect(server.received.length).toBe(1);
  });
});

describe('an answer', () => {
  it.each([
    ['a web page by its type', { headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: 'Sign in' }],
    ['a web page by its content', { body: '\n<!DOCTYPE html><title>Sign in</title>' }],
  ])('that is %s is refused', async (_, answer) => {
    const server = await startServer(() => answer);
    const failure = await failureOf(ask(client(server.url)));
    expect(failure.permanent).toBe(true);
    expect(failure.message).toContain('answered with a web page');
  });

  it.each([
    ['truncated', '{"ok":', 'invalid JSON'],
    ['empty', '', 'invalid JSON'],
    ['of another form', { ok: 'yes' }, 'unexpected JSON (ok is missing or wrong)'],
    ['an error with status 200', { error: { message: 'model is loading' } }, 'model is loading'],
  ])('that is %s fails with what was wrong', async (_, body, shown) => {
    const server = await startServer(() => ({ body }));
    const failure = await failureOf(ask(client(server.url)));
    expect(failure.message).toContain(shown);
    expect(failure.code).toBe('ENGINE_ERROR');
  });

  it('of 1 GiB is read up to the limit only', async () => {
    let sent = 0;
    const server = await startServer(() => (response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': String(1024 * MIB) });
      const chunk = Buffer.alloc(MIB, ' ');
      const send = () => {
        while (!response.destroyed && sent < 1024 * MIB) {
          sent += chunk.length;
          if (!response.write(chunk)) {
            response.once('drain', send);
            return;
          }
        }
      };
      send();
    });
    const failure = await failureOf(ask(client(server.url)));
    expect(failure.permanent).toBe(true);
    expect(failure.message).toContain('answered with more than 8 MiB');
    expect(sent).toBeLessThan(64 * MIB);
  });

  it('that does not come fails after the time of the entry, and closes the connection', async () => {
    const server = await startServer(() => () => {});
    const failure = await failureOf(ask(client(server.url, { entry: { timeout: 0.2 } })));
    expect(failure.permanent).toBe(false);
    expect(failure.message).toContain('did not answer within 0.2 s');
    for (const socket of server.open) await once(socket, 'close');
    expect(server.received.length).toBe(1);
  });

  it('that trickles in fails after the same time', async () => {
    const server = await startServer(() => (response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    });
    const failure = await failureOf(ask(client(server.url, { entry: { timeout: 0.3 } })));
    expect(failure.message).toContain('did not answer within 0.3 s');
  });

  it('that is not HTTP is reported', async () => {
    const server = createServer((socket) => void socket.end('220 mail ready\r\n')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const failure = await failureOf(ask(client(`http://127.0.0.1:${port}`)));
    expect(failure.message).toContain('does not answer in HTTP');
  });

  it('without TLS to an https address is reported', async () => {
    const server = await startServer(() => ({ body: { ok: true } }));
    const failure = await failureOf(ask(client(server.url.replace('http:', 'https:'))));
    expect(failure.permanent).toBe(true);
    expect(failure.message).toContain('it does not speak TLS');
  });
});

describe('cancelling', () => {
  it('ends a call to a hanging server at once with the reason, and closes the connection', async () => {
    const server = await startServer(() => () => {});
    const controller = new AbortController();
    const call = ask(client(server.url), controller.signal);
    await server.called;
    const reason = new Error('cancelled');
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    for (const socket of server.open) await once(socket, 'close');
  });

  it('ends a pause', async () => {
    const server = await startServer(() => ({ status: 503 }));
    const controller = new AbortController();
    const sleep = (_: number, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        controller.abort(new Error('cancelled'));
      });
    await expect(
      ask(client(server.url, { parts: recordedParts({ sleep }) }), controller.signal),
    ).rejects.toThrow('cancelled');
  });

  it('before the call sends nothing', async () => {
    const server = await startServer(() => ({ body: { ok: true } }));
    await expect(ask(client(server.url), AbortSignal.abort(new Error('cancelled')))).rejects.toThrow(
      'cancelled',
    );
    expect(server.received).toEqual([]);
  });
});

describe('plain http', () => {
  it('to a public address is refused before anything is sent, and says what to do', async () => {
    const failure = await failureOf(ask(client('http://203.0.113.7:8000/v1')));
    expect(failure.permanent).toBe(true);
    expect(failure.message).toMatch(
      /^openai tiny: 203\.0\.113\.7:8000 is outside .*use https:\/\/, or set "insecure": true/,
    );
  });

  it('may use the name of this machine', async () => {
    const server = await startServer(() => ({ body: { ok: true } }));
    await expect(ask(client(server.url.replace('127.0.0.1', 'localhost')))).resolves.toEqual({ ok: true });
  });

  it('is not checked if the entry allows it', async () => {
    const server = await startServer(() => ({ body: { ok: true } }));
    await expect(ask(client(server.url, { entry: { insecure: true } }))).resolves.toEqual({ ok: true });
  });
});
