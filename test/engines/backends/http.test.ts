import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ServerRefusal } from '../../../src/engines/backends/http.ts';
import { ask, client, failureOf } from './http-client.ts';
import { recordedParts, startServer } from './loopback-server.ts';

const KEY = 'sk-very-secret-0123456789';

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

  it('uses one connection for several calls, and closes it at the end', async () => {
    const server = await startServer(() => ({ body: { ok: true } }));
    // Connections of plain http are checked one by one, so they are not kept.
    const http = client(server.url, { entry: { insecure: true } });
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
    const http = client(server.url, { entry: { insecure: true }, parts });
    await ask(http);
    await ask(http);
    expect(server.received.length).toBe(3);
    expect(parts.pauses).toEqual([]);
  });
});

describe('a server that is busy or failing', () => {
  it('is tried again after a pause, with the same body', async () => {
    const server = await startServer((_, number) =>
      number < 3 ? { status: number === 1 ? 429 : 503 } : { body: { ok: true } },
    );
    const parts = recordedParts();
    await expect(ask(client(server.url, { parts }))).resolves.toEqual({ ok: true });
    expect(server.received.map(({ body }) => body.toString())).toEqual(Array(3).fill('{"question":1}'));
    expect(parts.pauses[0]).toBeLessThanOrEqual(500);
    expect(parts.pauses[1]).toBeLessThanOrEqual(1_000);
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
    expect(parts.pauses.map((ms) => Math.floor(ms / 1000))).toEqual([7, 5, 60]);
  });

  it('is tried eleven times, then the failure shows its message and may be temporary', async () => {
    const server = await startServer(() => ({
      status: 500,
      body: { error: { message: 'CUDA out of memory' } },
    }));
    const parts = recordedParts();
    const failure = await failureOf(ask(client(server.url, { parts })));
    expect(failure).toMatchObject({ code: 'ENGINE_ERROR', permanent: false });
    expect(failure.message).toMatch(
      /^openai tiny: 127\.0\.0\.1:\d+ answered with 500 \(CUDA out of memory\) \(11 tries\); see the log of the server$/,
    );
    expect(server.received.length).toBe(11);
    expect(parts.pauses.length).toBe(10);
    expect(parts.warnings).toEqual([expect.stringContaining('trying again')]);
  });

  it('is tried once if a person waits', async () => {
    const server = await startServer(() => ({ status: 503 }));
    const parts = recordedParts();
    const failure = await failureOf(ask(client(server.url, { parts: { ...parts, tries: 1 } })));
    expect(failure.message).toMatch(/answered with 503; see the log of the server$/);
    expect(parts).toMatchObject({ pauses: [], warnings: [] });
  });

  it('is given up after two minutes of pauses', async () => {
    const server = await startServer(() => ({ status: 503, headers: { 'Retry-After': '50' } }));
    const parts = recordedParts();
    await failureOf(ask(client(server.url, { parts })));
    expect(parts.pauses.map((ms) => Math.floor(ms / 1000))).toEqual([50, 50]);
  });

  it('is not tried again if the account has no money left', async () => {
    const error = { message: 'You exceeded your current quota', type: 'insufficient_quota' };
    const server = await startServer(() => ({ status: 429, body: { error } }));
    const failure = await failureOf(ask(client(server.url)));
    expect(failure.permanent).toBe(true);
    expect(failure.message).toContain('You exceeded your current quota');
    expect(server.received.length).toBe(1);
  });

  it('is tried again after a connection that breaks off, before and within the answer', async () => {
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

  it('that is not running is reported with its address and what to check', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const address = closed.address();
    const port = typeof address === 'object' ? address?.port : 0;
    closed.close();
    await once(closed, 'close');
    const failure = await failureOf(ask(client(`http://127.0.0.1:${port}/v1`)));
    expect(failure.permanent).toBe(false);
    expect(failure.message).toBe(
      `openai tiny: 127.0.0.1:${port} refuses connections (11 tries); check "url" of this engine in engines.json and that the server runs`,
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
  it.each(cases)('is not tried again, and its message is shown: %s', async (_, body) => {
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

  it('with the wrong key is reported with the variable that contains it', async () => {
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

  it('at an address without version is reported with the address', async () => {
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
