import { expect, test } from 'vitest';
import { send, signHeaders } from '../harness/caller.ts';
import { type Scene, startScene } from '../harness/scene.ts';

const NOBODY = { key: 'vk_AAAAAAAAAAAAAAAA', secret: 'a-secret-of-nobody' };

function _originOf(scene: Scene): string {
  return new URL(scene.service.url).origin;
}

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

test('the body is signed as the bytes that were sent, not as the JSON that they mean', async () => {
  const scene = await startScene();
  const body = '{ "purpose" : "subtitle_file" }';
  const sign = (text: string) => ({
    ...signHeaders(scene.credentials, {
      method: 'POST',
      path: '/v1/uploads',
      body: text,
      nowMs: scene.clock.now(),
    }),
    'Content-Type': 'application/json',
    'Idempotency-Key': 'one',
  });
  const url = `${scene.service.url}/uploads`;
  const honest = await send(url, { method: 'POST', body, headers: sign(body) });
  expect(honest.status).toBe(400);
  const reserialized = sign(JSON.stringify(JSON.parse(body)));
  const tampered = await send(url, { method: 'POST', body, headers: reserialized });
  expect(tampered.status).toBe(401);
});

test('a refused timestamp comes with the time of the service, so that the caller can correct its clock', async () => {
  const scene = await startScene();
  scene.clock.freeze();
  scene.clock.advance(86_400_000);
  const reply = await getCredits(scene, () => {}, -86_400);
  expect(reply.status).toBe(401);
  expect(Math.abs(Date.parse(String(reply.headers.date)) - scene.clock.now())).toBeLessThan(3000);
});

test('an unknown key and a wrong signature get the same answer', async () => {
  const scene = await startScene();
  const strip = (problem: Record<string, unknown>) => ({ ...problem, request_id: '' });
  const wrong = await getCredits(scene, (headers) => {
    headers['X-Service-Signature'] = '0'.repeat(64);
  });
  const unknown = await send(`${scene.service.url}/credits`, {
    headers: signHeaders(NOBODY, { method: 'GET', path: '/v1/credits', body: '', nowMs: scene.clock.now() }),
  });
  expect(wrong.status).toBe(401);
  expect(strip(unknown.json)).toEqual(strip(wrong.json));
});

test('nonces of 16 and of 128 characters are accepted', async () => {
  const scene = await startScene();
  for (const nonce of ['a'.repeat(16), 'b'.repeat(128)]) {
    const headers = signHeaders(scene.credentials, {
      method: 'GET',
      path: '/v1/credits',
      body: '',
      nowMs: scene.clock.now(),
      nonce,
    });
    expect((await send(`${scene.service.url}/credits`, { headers })).status).toBe(200);
  }
});

test('another name for the headers can be configured', async () => {
  const scene = await startScene({ config: { headerPrefix: 'X-Acme' } });
  const nowMs = scene.clock.now();
  const plain = signHeaders(scene.credentials, { method: 'GET', path: '/v1/credits', body: '', nowMs });
  const renamed = Object.fromEntries(
    Object.entries(plain).map(([name, value]) => [name.replace('X-Service', 'X-Acme'), value]),
  );
  expect((await send(`${scene.service.url}/credits`, { headers: renamed })).status).toBe(200);
  expect((await send(`${scene.service.url}/credits`, { headers: plain })).status).toBe(400);
});

test('a key works only while it is not revoked, a permission only while it is granted', async () => {
  const scene = await startScene();
  const issued = await scene.service.issueKey();
  const other = scene.callerFor(issued);
  expect((await other.get('/v1/dubbings')).status).toBe(200);
  await scene.service.changeKey(issued.key, { permissions: ['audio_separation'] });
  const denied = await other.get('/v1/dubbings');
  expect(denied.status).toBe(403);
  expect(denied.json.code).toBe('CAPABILITY_NOT_PERMITTED');
  expect((await other.get('/v1/audio-separations')).status).toBe(200);
  expect((await other.get('/v1/uploads')).status).toBe(200);
  await scene.service.changeKey(issued.key, { revoked: true });
  expect((await other.get('/v1/uploads')).status).toBe(401);
});

test('a key is accepted only from its addresses, and a header cannot pretend another one', async () => {
  const scene = await startScene();
  const at = async (...allowedAddresses: string[]) =>
    scene.callerFor(await scene.service.issueKey({ allowedAddresses })).get('/v1/credits', {
      'X-Forwarded-For': '192.0.2.1',
    });
  const refused = await at('192.0.2.1');
  expect(refused.status).toBe(403);
  expect(refused.json.code).toBe('SOURCE_IP_NOT_ALLOWED');
  expect((await at('127.0.0.1')).status).toBe(200);
  expect((await at('10.0.0.0/8', '127.0.0.0/8')).status).toBe(200);
  await expect(scene.service.issueKey({ allowedAddresses: ['anywhere'] })).rejects.toThrow();
});
