import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeCertificate } from '../../support/certificates.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { ask, client, failureOf } from './http-client.ts';
import { recordedParts, startServer } from './loopback-server.ts';

const MIB = 1024 * 1024;

/** From now on, time limits of this process end by the hand of the test. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

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

  it('of 1 GiB is read only up to the limit', async () => {
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

  it('that does not arrive fails after the time of the entry, and closes the connection', async () => {
    stopTime();
    const server = await startServer(() => () => {});
    const failing = failureOf(ask(client(server.url, { entry: { timeout: 7 } })));
    await server.called;
    vi.advanceTimersByTime(7000);
    const failure = await failing;
    expect(failure.permanent).toBe(false);
    expect(failure.message).toContain('did not answer within 7 s');
    for (const socket of server.open) await once(socket, 'close');
    expect(server.received.length).toBe(1);
  });

  it('that takes long is reported once, with the limit', async () => {
    stopTime();
    const parts = recordedParts({ mostSeconds: 50 });
    const server = await startServer(() => () => {});
    const failing = failureOf(ask(client(server.url, { parts })));
    await server.called;
    vi.advanceTimersByTime(29_999);
    expect(parts.warnings).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(parts.warnings).toEqual([
      expect.stringMatching(
        /^openai tiny: 127\.0\.0\.1:\d+ has not answered for 30 s; waiting for up to 50 s /,
      ),
    ]);
    vi.advanceTimersByTime(20_000);
    expect((await failing).message).toContain('did not answer within 50 s');
  });

  it('that trickles in fails after the same time', async () => {
    stopTime();
    const server = await startServer(() => (response) => {
      response.writeHead(200);
      const timer = setInterval(() => {
        response.write(' ');
        vi.advanceTimersByTime(1000);
      }, 20);
      response.on('close', () => clearInterval(timer));
    });
    const failure = await failureOf(ask(client(server.url, { entry: { timeout: 7 } })));
    expect(failure.message).toContain('did not answer within 7 s');
  });

  it('that is not HTTP is reported', async () => {
    const server = createServer((socket) => void socket.end('220 mail ready\r\n')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const failure = await failureOf(ask(client(`http://127.0.0.1:${port}`)));
    expect(failure.message).toContain('answers with something that is not HTTP');
  });

  it('without TLS to an https address is reported', async () => {
    const server = await startServer(() => ({ body: { ok: true } }));
    const failure = await failureOf(ask(client(server.url.replace('http:', 'https:'))));
    expect(failure.permanent).toBe(true);
    expect(failure.message).toContain('does not speak TLS');
  });
});

describe('https', () => {
  it('to a server with an untrusted certificate sends nothing and says what to set', async () => {
    let requests = 0;
    const certificate = makeCertificate(makeFolder(), 'IP:127.0.0.1');
    const server = createTlsServer(certificate, (_, response) => {
      requests += 1;
      response.end('{"ok":true}');
    }).listen(0, '127.0.0.1');
    server.on('tlsClientError', () => {});
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const failure = await failureOf(ask(client(`https://127.0.0.1:${port}/v1`)));
    expect(failure.permanent).toBe(true);
    expect(failure.message).toContain(
      'has a certificate that is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); set NODE_EXTRA_CA_CERTS',
    );
    expect(requests).toBe(0);
  });
});

describe('cancelling', () => {
  it('ends a call to a hanging server immediately with the reason, and closes the connection', async () => {
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
