/** Requests that two programs could read in two ways. They are written to the socket as they are. */
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { signHeaders } from '../harness/caller.ts';
import { type Scene, startScene } from '../harness/scene.ts';

/** Writes bytes and reads the answers until the connection closes; a smuggled second request follows them. */
function write(scene: Scene, bytes: string | Buffer): Promise<string> {
  const { port } = new URL(scene.service.url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

const POST = 'POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const GET = 'GET /v1/credits HTTP/1.1\r\nHost: x\r\n';
const SMUGGLED = 'GET /docs/errors/internal_error HTTP/1.1\r\nHost: x\r\n\r\n';
const many = Array.from({ length: 1500 }, (_, at) => `a${at}: `).join('\r\n');

/** Those that the conformance suite does not send. */
const CASES: Record<string, string | Buffer> = {
  'HTTP/1.0 GET with a body': 'GET /v1/credits HTTP/1.0\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc',
  'DELETE with a body': 'DELETE /v1/dubbings/x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc',
  'a head of 17 KB': `${GET}X-A: ${'a'.repeat(17_000)}\r\n\r\n`,
  '1,500 headers': `${GET}${many}\r\nX-Service-Key: last\r\n\r\n`,
  'an unknown expectation': `${POST}Expect: magic\r\nContent-Length: 2\r\n\r\n{}`,
};

test.each(Object.entries(CASES))('%s is 400, and nothing after it is executed', async (_name, bytes) => {
  const scene = await startScene();
  const text = await write(scene, Buffer.concat([Buffer.from(bytes), Buffer.from(SMUGGLED)]));
  const answers = text.match(/HTTP\/1\.1 \d{3}/g);
  expect(answers).toEqual(['HTTP/1.1 400']);
  expect(text.toLowerCase()).toContain('connection: close');
  expect(text).toContain('application/problem+json');
  expect(text).toMatch(/x-request-id: req_[0-9a-z]{26}/i);
  expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))).toMatchObject({
    code: 'INVALID_REQUEST',
    status: 400,
  });
});

test('a request on a connection that stays open is answered, and so is the next one', async () => {
  const scene = await startScene();
  const headers = () =>
    Object.entries(
      signHeaders(scene.credentials, {
        method: 'GET',
        path: '/v1/credits',
        body: '',
        nowMs: scene.clock.now(),
      }),
    )
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
  const last = `${GET}${headers()}Connection: close\r\n\r\n`;
  const text = await write(scene, `${GET}${headers()}\r\n${last}`);
  expect(text.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
});

/** As HAProxy sends them (`option httpchk`). */
const CHECKS = ['/livez', '/readyz', '/healthz', '/metrics'].flatMap((path) =>
  ['GET', 'HEAD'].map((method) => ({ method, path })),
);

test.each(CHECKS)('a check by HTTP/1.0 needs no Host header: $method $path', async ({ method, path }) => {
  const scene = await startScene({ metricsFrom: ['127.0.0.1'] });
  const text = await write(scene, `${method} ${path} HTTP/1.0\r\n\r\n`);
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(text.split('\r\n\r\n')[1] === '').toBe(method === 'HEAD');
});

test('a signed request by HTTP/1.0 needs no Host header either, and one by HTTP/1.1 does', async () => {
  const scene = await startScene();
  const signed = { method: 'GET', path: '/v1/credits', body: '', nowMs: scene.clock.now() };
  const ask = (version: string) => {
    const headers = Object.entries(signHeaders(scene.credentials, signed));
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return write(scene, `GET /v1/credits HTTP/${version}\r\n${lines}\r\n`);
  };
  expect(await ask('1.0')).toMatch(/^HTTP\/1\.1 200 /);
  expect(await ask('1.1')).toContain('the Host header is missing');
});
