import { expect, test } from 'vitest';
import { startScene } from '../harness/scene.ts';

test('a key with too many requests is refused with a time to come back', async () => {
  const scene = await startScene({ config: { rate: { requests: 3, windowSeconds: 60 } } });
  scene.clock.freeze();
  const first = await scene.caller.get('/v1/credits');
  expect(first.headers['ratelimit-policy']).toBe('"requests";q=3;w=60');
  expect(first.headers.ratelimit).toBe('"requests";r=2;t=60');
  await scene.caller.get('/v1/credits');
  const third = await scene.caller.get('/v1/credits');
  expect(third.status).toBe(200);
  expect(third.headers.ratelimit).toMatch(/^"requests";r=0;t=\d+$/);
  const refused = await scene.caller.get('/v1/credits');
  expect(refused.status).toBe(429);
  expect(refused.json).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryable: true });
  const seconds = Number(refused.headers['retry-after']);
  expect(seconds).toBeGreaterThan(55);
  scene.clock.advance(seconds * 1000);
  expect((await scene.caller.get('/v1/credits')).status).toBe(200);
});

test('keys do not use up the requests of each other', async () => {
  const scene = await startScene({ config: { rate: { requests: 1, windowSeconds: 60 } } });
  const other = scene.callerFor(await scene.service.issueKey());
  expect((await scene.caller.get('/v1/credits')).status).toBe(200);
  expect((await other.get('/v1/credits')).status).toBe(200);
  expect((await other.get('/v1/credits')).status).toBe(429);
});
