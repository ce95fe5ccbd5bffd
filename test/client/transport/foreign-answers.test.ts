import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { failureOf, onCleanup, startHarness } from '../support/harness.ts';
import { answer, cutAfter, html, json, startServer } from '../support/scripted-server.ts';

const CREDITS = { method: 'GET', path: '/credits' } as const;
const CREATE = { method: 'POST', path: '/dubbings', body: { target_language: 'es' } } as const;

describe('an answer that is none', () => {
  test('never follows a redirect, so that no signed header reaches another host', async () => {
    const elsewhere = await startServer();
    onCleanup(elsewhere.close);
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
    server.script.push(html(200, page));
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts.category).toBe('configuration');
    expect(facts.message).toBe(
      'the answer did not come from the API (status 200: Sign in to the guest network)',
    );
    server.script.push(html(404, page));
    expect((await failureOf(client.send(CREDITS))).facts.category).toBe('configuration');
    expect(server.seen).toHaveLength(2);
  });

  test('of a proxy that is out of order is temporary', async () => {
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
    ['an empty body', answer(200, { 'content-type': 'application/json' }, '')],
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
  ])('as %s is asked for again, then temporary', async (_name, fallback) => {
    const { server, client } = await startHarness({ fallback });
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts).toMatchObject({ category: 'temporary', retryable: true });
    expect(server.seen).toHaveLength(5);
    server.script.push(fallback);
    server.fallback = json(200, { fine: true });
    expect((await client.send(CREDITS)).body).toEqual({ fine: true });
  });

  test.each([
    ['of another content type', answer(200, { 'content-type': 'text/plain' }, '{"id":"x"}')],
    [
      'compressed unasked',
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
