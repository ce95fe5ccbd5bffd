import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../../src/client/index.ts';
import { isSignedWith } from '../support/check-signature.ts';
import { failureOf, SECRET, startHarness } from '../support/harness.ts';
import { hang, json, problem } from '../support/scripted-server.ts';

const CREDITS = { method: 'GET', path: '/credits' } as const;
const CREATE = { method: 'POST', path: '/dubbings', body: { target_language: 'es' } } as const;

describe('a signed call', () => {
  test('reaches the service with a signature that a second implementation agrees with', async () => {
    const { server, client } = await startHarness();
    await client.send({
      method: 'GET',
      path: '/dubbings',
      query: { client_reference: "a b+c!'()*", limit: 5 },
    });
    await client.send({ method: 'POST', path: 'v1/dubbings', body: { text: 'é中😀' } });
    await client.send({ method: 'DELETE', path: '/v1/dubbings/dub_1' });
    expect(server.seen.map((seen) => seen.target)).toEqual([
      '/v1/dubbings?client_reference=a%20b%2Bc%21%27%28%29%2A&limit=5',
      '/v1/dubbings',
      '/v1/dubbings/dub_1',
    ]);
    expect(server.seen.every((seen) => isSignedWith(SECRET, seen))).toBe(true);
  });

  test('returns status, body, request id and whether it was a replay', async () => {
    const { server, client } = await startHarness();
    server.script.push(
      json(202, { id: 'dub_1' }, { 'idempotency-replayed': 'true', 'x-request-id': 'req_9' }),
    );
    const { status, body, requestId, replayed } = await client.send(CREATE);
    expect({ status, body, requestId, replayed }).toEqual({
      status: 202,
      body: { id: 'dub_1' },
      requestId: 'req_9',
      replayed: true,
    });
  });

  test('sends the vendor headers under the prefix of the profile', async () => {
    const { server, client } = await startHarness({ headerPrefix: 'X-Acme' });
    await client.send(CREDITS);
    const [seen] = server.seen;
    expect(seen?.headers['x-acme-key']).toBe('key_test');
    expect(seen !== undefined && isSignedWith(SECRET, seen, 'x-acme')).toBe(true);
  });

  test('signs from the version on if a gateway adds a path prefix', async () => {
    const { server, client } = await startHarness();
    const behind = createClient({ baseUrl: `${server.origin}/gateway/v1`, key: 'k', secret: SECRET });
    onTestFinished(behind.close);
    await behind.send(CREDITS);
    await client.send(CREDITS);
    const [first] = server.seen;
    expect(first?.target).toBe('/gateway/v1/credits');
    expect(first !== undefined && isSignedWith(SECRET, { ...first, target: '/v1/credits' })).toBe(true);
  });

  test('is refused locally if invalid: a body on GET, a bad key, a path that climbs', async () => {
    const { server, client } = await startHarness();
    const calls = [
      { ...CREDITS, body: {} },
      { ...CREATE, idempotencyKey: 'white space' },
      { ...CREDITS, path: '/dubbings/../credits' },
      { ...CREDITS, path: 'https://elsewhere.example/v1/credits' },
    ];
    for (const call of calls) {
      const failure = await failureOf(client.send(call));
      expect(failure.facts.category).toBe('usage');
    }
    expect(server.seen).toHaveLength(0);
  });
});

test('is aborted when the client is closed', async () => {
  const { server, client } = await startHarness({ fallback: hang });
  const work = failureOf(client.send(CREDITS));
  while (server.seen.length === 0) await new Promise(setImmediate);
  await client.close();
  expect((await work).facts.code).toBe('CLIENT_CLOSED');
  expect(server.seen).toHaveLength(1);
});

test('puts no secret, signature or pre-signed query into any event or failure', async () => {
  const { server, client, events } = await startHarness({ fallback: problem(500, 'INTERNAL_ERROR', true) });
  const failure = await failureOf(client.send(CREATE));
  const told = inspect([events, failure], { depth: 10 });
  const signatures = server.seen.map((seen) => String(seen.headers['x-service-signature']));
  for (const secret of [SECRET, 'key_test', ...signatures]) expect(told).not.toContain(secret);
  expect(events.map((event) => event.type)).toContain('request');
});
