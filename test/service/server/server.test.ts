import { stat } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../../support/make-folder.ts';
import { send, signHeaders } from '../harness/caller.ts';
import { startScene } from '../harness/scene.ts';

/** Writes zeros until the other end stops reading or that many are sent. Returns the number that were sent. */
async function pour(socket: Socket, most: number): Promise<number> {
  const block = Buffer.alloc(65_536);
  let taken = 0;
  while (taken < most && !socket.destroyed) {
    let isTaken = false;
    socket.write(block, () => {
      isTaken = true;
    });
    // Client and service share an event loop: a service that reads does so within some of its turns.
    for (let turn = 0; turn < 500 && !isTaken && !socket.destroyed; turn += 1) await setImmediate();
    if (!isTaken) break;
    taken += block.length;
  }
  return taken;
}

test.each([
  ['an upload address with a wrong signature', 'PUT'],
  ['an operation without signature headers', 'POST'],
])('a body sent to %s is not read to its end', async (_name, method) => {
  const { caller, service, clock } = await startScene();
  const { hostname, port } = new URL(service.url);
  const reservation = { purpose: 'source_video', file_name: 'a', content_type: 'a/b', size_bytes: 1024 };
  const { upload_request } = (await caller.post('/v1/uploads', reservation)).json;
  const signed = new URL(upload_request.url);
  const target =
    method === 'PUT' ? `${signed.pathname}?expires=1&signature=${'0'.repeat(64)}` : '/v1/uploads';
  const length = 2 ** 29;
  // Only what is not read may end the writing, not the time.
  clock.freeze();
  const socket = connect(Number(port), hostname);
  const answer = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes))));
  const ended = new Promise<void>((resolve) => socket.on('error', () => {}).once('close', () => resolve()));
  socket.write(`${method} ${target} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: a/b\r\n`);
  socket.write(`Content-Length: ${length}\r\n\r\n`);
  expect(await answer).toMatch(/^HTTP\/1\.1 40[03] /);
  // The rest is what fits into the buffers of the kernel.
  expect(await pour(socket, length)).toBeLessThan(length);
  clock.advance(2001);
  await ended;
});

test.each([100_000, 2_000_000])(
  'a refused body of %i bytes does not spoil the next requests of its sender',
  async (size) => {
    const { service, clock } = await startScene();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const { origin } = new URL(service.url);
    for (let round = 0; round < 3; round += 1) {
      const refused = await send(`${origin}/objects/upl_x?expires=1&signature=x`, {
        method: 'PUT',
        body: Buffer.alloc(size),
        headers: { 'Content-Length': String(size) },
        agent,
      });
      expect(refused.status).toBe(403);
      expect((await send(`${origin}/healthz`, { agent })).status).toBe(200);
      clock.advance(2001);
      expect((await send(`${origin}/healthz`, { agent })).status).toBe(200);
    }
  },
);

test('a JSON body that does not arrive is given up after 30 s', async () => {
  const scene = await startScene();
  const signed = { method: 'POST', path: '/v1/uploads', body: '', nowMs: scene.clock.now() };
  const headers = { ...signHeaders(scene.credentials, signed), 'Content-Length': '10' };
  const ended = new Promise<string>((resolve) => {
    const sending = request(`${scene.service.url}/uploads`, { method: 'POST', headers });
    sending.on('error', (error) => resolve('code' in error ? String(error.code) : ''));
    sending.write('{', () => scene.clock.advance(30_001));
  });
  // The request may reach the service after the clock was moved: then the next move ends it.
  const moving = setInterval(() => scene.clock.advance(30_001), 20);
  expect(await ended).toBe('ECONNRESET');
  clearInterval(moving);
});

test('a caller that expects 100 Continue gets it', async () => {
  const scene = await startScene();
  const body = '{}';
  const signed = { method: 'POST', path: '/v1/uploads', body, nowMs: scene.clock.now() };
  const headers = {
    ...signHeaders(scene.credentials, signed),
    Expect: '100-continue',
    'Content-Length': '2',
    'Content-Type': 'application/json',
  };
  const status = await new Promise<number>((resolve, reject) => {
    const sending = request(`${scene.service.url}/uploads`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sending.on('continue', () => sending.end(body)).on('error', reject);
    sending.flushHeaders();
  });
  // It was read: JSON of no known field, without an Idempotency-Key.
  expect(status).toBe(400);
});

test('the files of the service are private, whatever the umask', async () => {
  const before = process.umask(0);
  try {
    const scene = await startScene({ stateDir: join(makeFolder(), 'state') });
    await scene.caller.get('/v1/credits');
    const modeOf = async (name: string) =>
      ((await stat(join(scene.stateDir, name))).mode & 0o777).toString(8);
    for (const folder of ['.', 'uploads', 'assets', 'stages', 'work'])
      expect(await modeOf(folder)).toBe('700');
    for (const file of ['service.sqlite', 'service.sqlite-wal', 'nonces.sqlite', 'nonces.sqlite-wal']) {
      expect(await modeOf(file)).toBe('600');
    }
  } finally {
    process.umask(before);
  }
});

test('a service that closes releases its port and its folder, and can be started again', async () => {
  const first = await startScene();
  const { key } = first.credentials;
  await Promise.all([first.service.close(), first.service.close()]);
  await expect(send(`${first.service.url}/credits`)).rejects.toThrow('ECONNREFUSED');
  const second = await startScene({ stateDir: first.stateDir });
  expect(second.credentials.key).toBe(key);
  expect((await second.caller.get('/v1/credits')).json.balance_credits).toBe(100_000);
});

test('a port in use is an error, and the folder stays free', async () => {
  const first = await startScene();
  const port = Number(new URL(first.service.url).port);
  const stateDir = makeFolder();
  await expect(startScene({ stateDir, port })).rejects.toThrow('EADDRINUSE');
  const second = await startScene({ stateDir });
  expect((await second.caller.get('/v1/credits')).status).toBe(200);
});

test('a service that closes does not wait for the rest of a body that it has refused', async () => {
  const { service } = await startScene();
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  const answer = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes))));
  socket.write(`POST /v1/uploads HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: 99999999\r\n\r\n{`);
  expect(await answer).toMatch(/^HTTP\/1\.1 4\d\d /);
  // The clock of the scene stands still: the time limit of the shutdown never comes.
  await service.close();
  socket.destroy();
});
