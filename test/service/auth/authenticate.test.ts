import { createHash, createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { send, signHeaders } from '../harness/caller.ts';
import { type Scene, startScene } from '../harness/scene.ts';

const NOBODY = { key: 'vk_AAAAAAAAAAAAAAAA', secret: 'a-secret-of-nobody' };

function originOf(scene: Scene): string {
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

test('a signature over the five lines is accepted, whatever the order of the query', async () => {
  const scene = await startScene();
  const signed = '/v1/uploads?limit=1&purpose=source_video';
  const headers = signHeaders(scene.credentials, {
    method: 'GET',
    path: signed,
    body: '',
    nowMs: scene.clock.now(),
  });
  const reply = await send(`${originOf(scene)}/v1/uploads?purpose=source_video&limit=1`, { headers });
  expect(reply.status).toBe(200);
});

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

test.each([
  ['another method', { method: 'DELETE', path: '/v1/credits', body: '' }],
  ['another path', { method: 'GET', path: '/v1/uploads', body: '' }],
  ['another query', { method: 'GET', path: '/v1/credits?limit=1', body: '' }],
  ['another body', { method: 'GET', path: '/v1/credits', body: 'x' }],
])('a signature for %s is refused', async (_name, signed) => {
  const scene = await startScene();
  const headers = signHeaders(scene.credentials, { ...signed, nowMs: scene.clock.now() });
  const reply = await send(`${scene.service.url}/credits`, { headers });
  expect(reply.status).toBe(401);
  expect(reply.json.code).toBe('AUTHENTICATION_FAILED');
});

test('a timestamp may be 300 s away in either direction, and no more', async () => {
  const scene = await startScene();
  scene.clock.freeze();
  const at = async (seconds: number) => (await getCredits(scene, () => {}, seconds)).status;
  expect(await at(-300)).toBe(200);
  expect(await at(300)).toBe(200);
  expect(await at(-301)).toBe(401);
  expect(await at(301)).toBe(401);
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

test.each([
  ['X-Service-Key', ''],
  ['X-Service-Key', 'with space'],
  ['X-Service-Timestamp', '17000000000'],
  ['X-Service-Timestamp', '1700000000.5'],
  ['X-Service-Timestamp', '-700000000'],
  ['X-Service-Nonce', 'a'.repeat(15)],
  ['X-Service-Nonce', 'a'.repeat(129)],
  ['X-Service-Nonce', `${'a'.repeat(16)}+`],
  ['X-Service-Signature', '0'.repeat(63)],
  ['X-Service-Signature', 'A'.repeat(64)],
])('%s "%s" is 400 where the operation knows 400, else 401', async (name, value) => {
  const scene = await startScene();
  const credits = await getCredits(scene, (headers) => {
    headers[name] = value;
  });
  expect(credits.status).toBe(400);
  expect(credits.json.errors[0].pointer).toBe(name.toLowerCase());
  const path = '/v1/dubbings/dub_01arz3ndektsv4rrffq69g5fav';
  const headers = signHeaders(scene.credentials, { method: 'GET', path, body: '', nowMs: scene.clock.now() });
  const single = await send(originOf(scene) + path, { headers: { ...headers, [name]: value } });
  expect(single.status).toBe(401);
});

test.each(['X-Service-Key', 'X-Service-Timestamp', 'X-Service-Nonce', 'X-Service-Signature'])(
  'a request without %s is refused',
  async (name) => {
    const scene = await startScene();
    const reply = await getCredits(scene, (headers) => {
      delete headers[name];
    });
    expect(reply.status).toBe(400);
  },
);

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

test('without a valid plan nothing is permitted', async () => {
  const scene = await startScene();
  const ended = await startScene({ config: { planEndsAt: scene.clock.now() - 1 } });
  const reply = await ended.caller.get('/v1/credits');
  expect(reply.status).toBe(403);
  expect(reply.json.code).toBe('API_ACCESS_NOT_INCLUDED_IN_PLAN');
});

test('the signature is checked before the nonce is used up', async () => {
  const scene = await startScene();
  const nonce = randomBytes(16).toString('base64url');
  const timestamp = String(Math.floor(scene.clock.now() / 1000));
  const digest = createHash('sha256').digest('hex');
  const text = ['GET', '/v1/credits', timestamp, nonce, digest].join('\n');
  const signature = createHmac('sha256', scene.credentials.secret).update(text).digest('hex');
  const headers = {
    'X-Service-Key': scene.credentials.key,
    'X-Service-Timestamp': timestamp,
    'X-Service-Nonce': nonce,
  };
  const url = `${scene.service.url}/credits`;
  const wrong = await send(url, { headers: { ...headers, 'X-Service-Signature': 'f'.repeat(64) } });
  expect(wrong.status).toBe(401);
  const right = await send(url, { headers: { ...headers, 'X-Service-Signature': signature } });
  expect(right.status).toBe(200);
});
