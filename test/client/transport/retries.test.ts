import { describe, expect, test } from 'vitest';
import { SYSTEM_RUNTIME } from '../../../src/client/runtime.ts';
import { isSignedWith } from '../support/check-signature.ts';
import { createFakeRuntime } from '../support/fake-runtime.ts';
import { SECRET, startHarness } from '../support/harness.ts';
import { html, problem, reset } from '../support/scripted-server.ts';

const CREDITS = { method: 'GET', path: '/credits' } as const;
const CREATE = { method: 'POST', path: '/dubbings', body: { target_language: 'es' } } as const;

describe('retries', () => {
  test('carry the same key and bytes under a new nonce, time and signature', async () => {
    const { server, client } = await startHarness();
    server.script.push(
      reset,
      problem(503, 'SERVICE_TEMPORARILY_UNAVAILABLE', true),
      html(502, '<h1>Bad Gateway</h1>'),
    );
    await client.send(CREATE);
    expect(server.seen).toHaveLength(4);
    const distinct = (name: string) => new Set(server.seen.map((seen) => seen.headers[name])).size;
    expect(distinct('idempotency-key')).toBe(1);
    expect(distinct('x-service-nonce')).toBe(4);
    expect(distinct('x-service-signature')).toBe(4);
    expect(new Set(server.seen.map((seen) => seen.body.toString())).size).toBe(1);
    expect(server.seen.every((seen) => isSignedWith(SECRET, seen))).toBe(true);
  });

  test('wait as long as Retry-After says, in seconds or as a date, never less', async () => {
    const { server, client, runtime, events } = await startHarness();
    const later = new Date(Math.ceil(runtime.now() / 1000) * 1000 + 90_000).toUTCString();
    const now = new Date(Math.ceil(runtime.now() / 1000) * 1000).toUTCString();
    server.script.push(
      problem(429, 'RATE_LIMIT_EXCEEDED', true, { 'retry-after': '30' }),
      problem(503, 'SERVICE_TEMPORARILY_UNAVAILABLE', true, { 'retry-after': later, date: now }),
    );
    await client.send(CREDITS);
    expect(runtime.slept).toEqual([30_250, 90_250]);
    expect(events.filter((event) => event.type === 'retry')).toMatchObject([
      { asked: true, waitMs: 30_250, code: 'RATE_LIMIT_EXCEEDED' },
      { asked: true, waitMs: 90_250 },
    ]);
  });

  test('are made for a 409 that says the same key is still being worked on', async () => {
    const { server, client } = await startHarness();
    server.script.push(problem(409, 'IDEMPOTENCY_KEY_IN_PROGRESS', undefined));
    await client.send(CREATE);
    expect(server.seen).toHaveLength(2);
  });
});

test('five retried calls: a nonce and a time for each request, one key and one body for each call', async () => {
  const clock = createFakeRuntime();
  const { nonce, idempotencyKey } = SYSTEM_RUNTIME;
  const { server, client } = await startHarness({ fake: { ...clock, nonce, idempotencyKey } });
  for (let call = 0; call < 5; call += 1) {
    server.script.push(problem(503, 'SERVICE_TEMPORARILY_UNAVAILABLE', true, { 'retry-after': '2' }));
    await client.send({ method: 'POST', path: '/dubbings', body: { call } });
  }
  const header = (name: string) => server.seen.map(({ headers }) => String(headers[name]));
  expect(server.seen).toHaveLength(10);
  expect(new Set(header('x-service-nonce')).size).toBe(10);
  expect(server.seen.every((seen) => isSignedWith(SECRET, seen))).toBe(true);
  const byKey = Map.groupBy(server.seen, ({ headers }) => headers['idempotency-key']);
  expect(byKey.size).toBe(5);
  for (const [first, second, ...more] of byKey.values()) {
    expect(more).toEqual([]);
    expect(second?.body).toEqual(first?.body);
    const times = [first, second].map((seen) => Number(seen?.headers['x-service-timestamp']));
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(2);
  }
});
