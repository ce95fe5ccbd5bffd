import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { failureOf, startHarness } from '../support/harness.ts';
import { answer, cutAfter, html, json, startServer } from '../support/scripted-server.ts';

const CREDITS = { method: 'GET', path: '/credits' } as const;
const CREATE = { method: 'POST', path: '/dubbings', body: { target_language: 'es' } } as const;

describe('an answer that does not come from the service', () => {
  test('never follows a redirect, so that no signed header reaches another host', async () => {
    const elsewhere = await startServer();
    onTestFinished(elsewhere.close);
    const { server, client } = await startHarness();
    for (const status of [301, 302, 303, 307, 308]) {
      server.script.push(answer(status, { location: `${elsewhere.origin}/v1/dubbings?token=canary` }));
      const { facts } = await failureOf(client.send(CREATE));
      expect(facts).toMatchObject({ category: 'configuration', code: 'REDIRECTED' });
      expect(facts.message).toContain(elsewhere.origin);
      expect(facts.message).not.toContain('canary');
    }
    expect(elsewhere.seen).toHaveLength(0);
    expect(server.seen).toHaveLength(5);
  });

  test('of a proxy is named with status and first line', async () => {
    const { server, client } = await startHarness();
    const page = '<html><head><title>Sign in to the guest network</title></head><body>…</body></html>';
    server.script.push(html(404, page));
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts).toMatchObject({ category: 'configuration', origin: 'gateway', blame: 'gateway' });
    expect(facts.message).toBe(
      'the answer did not come from the API (status 404: Sign in to the guest network)',
    );
    for (const status of [401, 403]) {
      server.script.push(html(status, '<h1>Blocked by policy</h1>'));
      const blocked = await failureOf(client.send(CREDITS));
      expect(blocked.facts).toMatchObject({ category: 'configuration', origin: 'gateway' });
      expect(blocked.message).toBe(
        `a proxy, gateway or firewall in front of the API refused the request (status ${status}: Blocked by policy)`,
      );
      expect(blocked.facts.advice).not.toContain('key');
    }
    expect(server.seen).toHaveLength(3);
  });

  test('of a login page is requested again, a paid call with the same key', async () => {
    const { server, client } = await startHarness();
    const page = html(200, '<html><head><title>Sign in</title></head></html>');
    server.script.push(page, page);
    await client.send(CREATE);
    expect(server.seen).toHaveLength(3);
    expect(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    server.fallback = page;
    const { facts } = await failureOf(client.send(CREATE));
    expect(facts).toMatchObject({ category: 'temporary', code: 'NOT_THE_SERVICE', retryable: true });
    expect(facts.message).toContain('(status 200: Sign in), 5 times in a row');
    expect(server.seen).toHaveLength(8);
  });

  test('that only asks to slow down is waited for, without a code and with any Retry-After', async () => {
    const { server, client, runtime } = await startHarness();
    const date = new Date(Math.ceil(runtime.now() / 1000) * 1000).toUTCString();
    const later = new Date(Date.parse(date) + 9_000).toUTCString();
    server.script.push(
      html(429, '<h1>Too many requests</h1>'),
      answer(429, { 'retry-after': '7' }, 'slow down'),
      answer(429, { 'retry-after': later, date }),
    );
    await client.send(CREATE);
    expect(runtime.slept).toEqual([250, 7_250, 9_250]);
  });

  test('does not correct the clock: a gateway has another clock than the service', async () => {
    const { server, client, events, runtime } = await startHarness();
    const date = new Date(runtime.now() + 3_600_000).toUTCString();
    server.script.push(answer(401, { 'content-type': 'text/html', date }, '<h1>Sign in</h1>'));
    await failureOf(client.send(CREDITS));
    expect(server.seen).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'skew')).toEqual([]);
  });

  test('of a failing proxy is temporary', async () => {
    const { server, client } = await startHarness({
      fallback: html(502, '<h1>502 Bad\u001b[31m Gateway</h1>'),
    });
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts).toMatchObject({ category: 'temporary', status: 502 });
    expect(facts.message).toContain('502 Bad[31m Gateway');
    expect(server.seen).toHaveLength(5);
  });

  test.each([
    ['malformed JSON', answer(200, { 'content-type': 'application/json' }, '{"id": "x", ')],
    [
      'bytes that are not UTF-8',
      answer(200, { 'content-type': 'application/json' }, Buffer.from('"\xff"', 'latin1')),
    ],
    [
      'JSON 200,000 deep',
      answer(200, { 'content-type': 'application/json' }, '['.repeat(200_000) + ']'.repeat(200_000)),
    ],
    [
      'a body cut off by a reset',
      cutAfter(100, Buffer.from('{"id":'), { 'content-type': 'application/json' }),
    ],
  ])('as %s is requested again, then temporary', async (_name, fallback) => {
    const { server, client } = await startHarness({ fallback });
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts).toMatchObject({ category: 'temporary', retryable: true });
    expect(server.seen).toHaveLength(5);
    server.script.push(fallback);
    server.fallback = json(200, { fine: true });
    expect((await client.send(CREDITS)).body).toEqual({ fine: true });
  });

  test.each([
    [
      'compressed although not requested',
      answer(
        200,
        { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        gzipSync(Buffer.alloc(2 ** 24, 32)),
      ),
    ],
    [
      'larger than 16 MiB',
      answer(
        200,
        { 'content-type': 'application/json', 'x-request-id': 'req_large' },
        Buffer.concat([Buffer.from('"'), Buffer.alloc(2 ** 24, 97), Buffer.from('"')]),
      ),
    ],
  ])('%s is refused without another attempt', async (name, fallback) => {
    const { server, client } = await startHarness({ fallback });
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts).toMatchObject({ category: 'configuration', code: 'NOT_THE_SERVICE' });
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]?.headers['accept-encoding']).toBe('identity');
    if (name === 'larger than 16 MiB') expect(facts.requestId).toBe('req_large');
  });

  test('with headers of 60 KB is temporary and says so', async () => {
    const { client } = await startHarness({ fallback: json(200, {}, { 'x-big': 'a'.repeat(60_000) }) });
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts).toMatchObject({ category: 'temporary', code: 'ANSWER_HEADERS_TOO_LARGE' });
  });
});
