import { describe, expect, onTestFinished, test } from 'vitest';
import { failureOf, startHarness } from '../support/harness.ts';
import { answer, html, startServer } from '../support/scripted-server.ts';

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

  test('larger than 16 MiB is refused without another attempt', async () => {
    const large = Buffer.concat([Buffer.from('"'), Buffer.alloc(2 ** 24, 97), Buffer.from('"')]);
    const { server, client } = await startHarness({
      fallback: answer(200, { 'content-type': 'application/json', 'x-request-id': 'req_large' }, large),
    });
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts).toMatchObject({
      category: 'configuration',
      code: 'NOT_THE_SERVICE',
      requestId: 'req_large',
    });
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]?.headers['accept-encoding']).toBe('identity');
  });
});
