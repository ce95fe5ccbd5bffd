import { expect, test } from 'vitest';
import { send, signHeaders } from '../harness/caller.ts';
import { type Scene, startScene } from '../harness/scene.ts';

/** Sends a GET of the balance with headers that a test may spoil. */
function getCredits(scene: Scene, spoil: (headers: Record<string, string>) => void, seconds = 0) {
  const headers = signHeaders(scene.credentials, {
    method: 'GET',
    path: '/v1/credits',
    body: '',
    nowMs: scene.clock.now() + seconds * 1000,
  });
  spoil(headers);
  return send(`${scene.service.url}/credits`, { headers });
}

test('a refused timestamp comes with the time of the service, so that the caller can correct its clock', async () => {
  const scene = await startScene();
  scene.clock.freeze();
  scene.clock.advance(86_400_000);
  const reply = await getCredits(scene, () => {}, -86_400);
  expect(reply.status).toBe(401);
  expect(Math.abs(Date.parse(String(reply.headers.date)) - scene.clock.now())).toBeLessThan(3000);
});
