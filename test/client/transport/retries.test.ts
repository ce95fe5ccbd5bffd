import { describe, expect, test } from 'vitest';
import { SYSTEM_RUNTIME } from '../../../src/client/runtime.ts';
import { isSignedWith } from '../support/check-signature.ts';
import { createFakeRuntime } from '../support/fake-runtime.ts';
import { failureOf, SECRET, startHarness } from '../support/harness.ts';
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

  test('wait with full jitter, doubling: 250, 500, 1000, 2000 ms at the middle of the range', async () => {
    const { client, runtime } = await startHarness({ fallback: problem(500, 'INTERNAL_ERROR', true) });
    const { facts } = await failureOf(client.send(CREDITS));
    expect(runtime.slept).toEqual([250, 500, 1000, 2000]);
    expect(facts).toMatchObject({ category: 'temporary', code: 'INTERNAL_ERROR', requestId: 'req_problem' });
    expect(facts.message).toContain('5 times in a row');
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

  test('end immediately if the service asks for longer than the longest wait, and say how long', async () => {
    const { server, client, runtime } = await startHarness({ maxWaitMs: 60_000 });
    server.script.push(problem(429, 'RATE_LIMIT_EXCEEDED', true, { 'retry-after': '2678400' }));
    const { facts } = await failureOf(client.send(CREDITS));
    expect(runtime.slept).toEqual([]);
    expect(facts).toMatchObject({ category: 'temporary', retryAfterMs: 2_678_400_000 });
    expect(facts.message).toContain('31 d');
  });

  test('wait for a slot any number of times without using up an attempt', async () => {
    const { server, client, runtime, events } = await startHarness();
    const full = problem(429, 'CONCURRENCY_LIMIT_EXCEEDED', true, { 'retry-after': '10' });
    server.script.push(...Array.from({ length: 12 }, () => full), reset, reset, reset, reset);
    await client.send(CREATE);
    expect(server.seen).toHaveLength(17);
    expect(runtime.slept.slice(0, 12).every((ms) => ms >= 10_000)).toBe(true);
    const waits = events.filter(
      (event) => event.type === 'retry' && event.code === 'CONCURRENCY_LIMIT_EXCEEDED',
    );
    expect(waits).toHaveLength(12);
  });

  test('wait for a slot no longer than until the deadline', async () => {
    const full = problem(429, 'CONCURRENCY_LIMIT_EXCEEDED', true, { 'retry-after': '10' });
    const { server, client, runtime } = await startHarness({ fallback: full });
    const { facts } = await failureOf(client.send({ ...CREATE, deadline: runtime.now() + 35_000 }));
    expect(facts).toMatchObject({ category: 'temporary', code: 'CONCURRENCY_LIMIT_EXCEEDED' });
    expect(server.seen).toHaveLength(4);
  });

  test.each([
    [429, 'CREDIT_QUOTA_EXCEEDED', true, 'credits'],
    [402, 'INSUFFICIENT_CREDITS', false, 'credits'],
    [503, 'SERVICE_TEMPORARILY_UNAVAILABLE', false, 'refused'],
    [400, 'INVALID_REQUEST', false, 'refused'],
    [401, 'AUTHENTICATION_FAILED', false, 'configuration'],
    [403, 'SOURCE_IP_NOT_ALLOWED', false, 'configuration'],
    [404, 'RESOURCE_NOT_FOUND', false, 'refused'],
    [409, 'IDEMPOTENCY_KEY_REUSED', false, 'refused'],
    [422, 'MEDIA_VALIDATION_FAILED', undefined, 'refused'],
  ])(
    'are not made for %i %s: one request, exit by its category',
    async (status, code, retryable, category) => {
      const { server, client } = await startHarness({
        fallback: problem(status, code, retryable, { 'retry-after': '5' }),
      });
      const { facts } = await failureOf(client.send(CREATE));
      expect(server.seen).toHaveLength(1);
      expect(facts).toMatchObject({
        category,
        code,
        status,
        requestId: 'req_problem',
        message: expect.stringMatching(`${code} happened$`),
      });
      expect(facts.advice).not.toBe('');
    },
  );

  test('are made for a 409 that says the same key is still being worked on', async () => {
    const { server, client } = await startHarness();
    server.script.push(problem(409, 'IDEMPOTENCY_KEY_IN_PROGRESS', undefined));
    await client.send(CREATE);
    expect(server.seen).toHaveLength(2);
  });

  test('stay within the shared budget: 1,000 calls against a dead service make at most 1,050 requests', async () => {
    const { server, client } = await startHarness({
      fallback: problem(503, 'SERVICE_TEMPORARILY_UNAVAILABLE', true),
    });
    const lane = async () => {
      for (let call = 0; call < 50; call += 1) await failureOf(client.send(CREDITS));
    };
    await Promise.all(Array.from({ length: 20 }, lane));
    expect(server.seen.length).toBe(1_050);
  });

  test('make at most 1,100 requests of 1,000 calls that are all throttled', async () => {
    const { server, client } = await startHarness({ fallback: problem(429, 'RATE_LIMIT_EXCEEDED', true) });
    const lane = async () => {
      for (let call = 0; call < 50; call += 1) await failureOf(client.send(CREDITS));
    };
    await Promise.all(Array.from({ length: 20 }, lane));
    expect(server.seen.length).toBe(1_100);
  });

  test('end with the reason of the signal when the caller gives up while waiting', async () => {
    const controller = new AbortController();
    const reason = new Error('the user pressed Ctrl-C');
    const fake = createFakeRuntime();
    const { sleep } = fake;
    fake.sleep = async (ms, signal) => {
      controller.abort(reason);
      await sleep(ms, signal);
    };
    const { server, client } = await startHarness({ fake, fallback: problem(500, 'INTERNAL_ERROR', true) });
    await expect(client.send({ ...CREDITS, signal: controller.signal })).rejects.toBe(reason);
    expect(server.seen).toHaveLength(1);
  });
});

test('100 retried calls: a nonce and a time for each request, one key and one body for each call', async () => {
  const clock = createFakeRuntime();
  const { nonce, idempotencyKey } = SYSTEM_RUNTIME;
  const { server, client } = await startHarness({ fake: { ...clock, nonce, idempotencyKey } });
  for (let call = 0; call < 100; call += 1) {
    server.script.push(problem(503, 'SERVICE_TEMPORARILY_UNAVAILABLE', true, { 'retry-after': '2' }));
    await client.send({ method: 'POST', path: '/dubbings', body: { call } });
  }
  const header = (name: string) => server.seen.map(({ headers }) => String(headers[name]));
  expect(server.seen).toHaveLength(200);
  expect(new Set(header('x-service-nonce')).size).toBe(200);
  expect(server.seen.every((seen) => isSignedWith(SECRET, seen))).toBe(true);
  const byKey = Map.groupBy(server.seen, ({ headers }) => headers['idempotency-key']);
  expect(byKey.size).toBe(100);
  for (const [first, second, ...more] of byKey.values()) {
    expect(more).toEqual([]);
    expect(second?.body).toEqual(first?.body);
    const times = [first, second].map((seen) => Number(seen?.headers['x-service-timestamp']));
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(2);
  }
});
