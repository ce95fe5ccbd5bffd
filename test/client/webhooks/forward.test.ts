import { describe, expect, it, onTestFinished } from 'vitest';
import { createForwarder, parseForwardTarget } from '../../../src/client/webhooks/forward.ts';
import { startPlain } from '../../service/outgoing/outside.ts';

function forwarderTo(url: string, answerMs?: number) {
  const forwarder = createForwarder(parseForwardTarget(url), answerMs);
  onTestFinished(() => forwarder.close());
  return forwarder;
}

describe('a forwarded delivery', () => {
  it('arrives with the same bytes and headers, except those of the connection', async () => {
    const bytes: Buffer[] = [];
    const receiver = await startPlain(async (request, response) => {
      for await (const chunk of request) bytes.push(chunk);
      response.writeHead(202).end();
    });
    const body = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    const raw = ['Host', 'public.example', 'X-Acme-Webhook-Id', 'evt_1', 'Content-Type', 'application/json'];
    const sent = [...raw, 'Connection', 'close', 'Content-Length', '999', 'Transfer-Encoding', 'chunked'];
    const outcome = await forwarderTo(`${receiver.origin}/hook?a=1`).forward(body, sent);
    expect(outcome).toEqual({ ok: true, status: 202 });
    expect(Buffer.concat(bytes)).toEqual(body);
    const [request] = receiver.requests;
    expect([request?.method, request?.url]).toEqual(['POST', '/hook?a=1']);
    expect(request?.headers).toMatchObject({
      host: `127.0.0.1:${receiver.port}`,
      'x-acme-webhook-id': 'evt_1',
      'content-type': 'application/json',
      'content-length': '4',
    });
  });

  it('does not follow a redirect', async () => {
    const receiver = await startPlain((_request, response) =>
      response.writeHead(307, { Location: '/elsewhere' }).end(),
    );
    const outcome = await forwarderTo(receiver.origin).forward(Buffer.from('{}'), []);
    expect(outcome).toMatchObject({ ok: false, status: 307 });
    expect(receiver.requests).toHaveLength(1);
  });

  it('is waited for no longer than the sender waits', async () => {
    const receiver = await startPlain(() => {});
    const outcome = await forwarderTo(receiver.origin, 50).forward(Buffer.from('{}'), []);
    expect(outcome).toMatchObject({ ok: false, status: null });
    expect(outcome).toMatchObject({ reason: expect.stringContaining('did not answer in time') });
  });

  it('reports that nothing listens', async () => {
    const outcome = await forwarderTo('http://127.0.0.1:1').forward(Buffer.from('{}'), []);
    expect(outcome).toMatchObject({ ok: false, reason: expect.stringContaining('refuses connections') });
  });
});

describe('the address to forward to', () => {
  it('may omit the scheme', () => {
    expect(parseForwardTarget('localhost:3000/hook').href).toBe('http://localhost:3000/hook');
  });

  it.each(['http://example.com/hook', '192.0.2.1:80', 'http://user:pass@localhost/', 'ftp://localhost', ''])(
    'is not %j',
    (text) => {
      expect(() => parseForwardTarget(text)).toThrow('--forward-to');
    },
  );
});
