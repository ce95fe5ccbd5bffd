import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../../src/protocol/error-codes.ts';
import { OPERATIONS } from '../../../src/protocol/operations.ts';
import { createRouter } from '../../../src/service/http/router.ts';
import { send } from '../harness/caller.ts';
import { startScene } from '../harness/scene.ts';

test('there is a route for each of the 26 operations', () => {
  const route = createRouter();
  expect(OPERATIONS).toHaveLength(26);
  for (const operation of OPERATIONS) {
    const match = route(operation.method, `/v1${operation.path.replace(/\{\w+\}/, 'some_id')}`);
    expect(match).toMatchObject({ found: true, route: { type: 'operation', operation } });
    const parameters = match.found ? Object.values(match.parameters) : [];
    expect(parameters).toEqual(operation.path.includes('{') ? ['some_id'] : []);
  }
});

test('every operation of a single resource answers 404 to an unknown id, and a completion 400 to a malformed one', async () => {
  const { caller } = await startScene();
  for (const { method, path } of OPERATIONS) {
    if (!path.includes('{')) continue;
    for (const id of ['dub_01arz3ndektsv4rrffq69g5fav', 'x', '%00', "'--"]) {
      const target = `/v1${path.replace(/\{\w+\}/, encodeURIComponent(decodeURIComponent(id)).replace("'", '%27'))}`;
      const reply = await {
        GET: () => caller.get(target),
        POST: () => caller.post(target, { etag: 'abc' }),
        DELETE: () => caller.delete(target),
      }[method]();
      const refused = method === 'POST' ? [400, 'INVALID_REQUEST'] : [404, 'RESOURCE_NOT_FOUND'];
      expect([target, reply.status, reply.json.code]).toEqual([target, ...refused]);
    }
  }
});

test('an unknown path is 404, a method that a path does not accept is 405 with Allow', async () => {
  const { service } = await startScene();
  const { origin } = new URL(service.url);
  for (const path of ['/', '/v1', '/v1/credits/', '/v1/episodes', '/v2/credits', '/constructor']) {
    const reply = await send(origin + path);
    expect([path, reply.status, reply.json.code]).toEqual([path, 404, 'RESOURCE_NOT_FOUND']);
  }
  const allowed = async (method: string, path: string) => {
    const reply = await send(origin + path, { method });
    expect(reply.status).toBe(405);
    return reply.headers.allow;
  };
  expect(await allowed('PUT', '/v1/credits')).toBe('GET');
  expect(await allowed('PATCH', '/v1/uploads')).toBe('GET, POST');
  expect(await allowed('POST', '/v1/dubbings/x')).toBe('GET, DELETE');
  expect(await allowed('DELETE', '/v1/uploads/x/completions')).toBe('POST');
});

test('the page that a problem points to explains it', async () => {
  const { service } = await startScene();
  const refused = await send(`${service.url}/nothing`);
  expect(refused.json.type).toBe(`${service.docsUrl}/errors/resource_not_found`);
  for (const [code, row] of Object.entries(ERROR_CODES)) {
    const page = await send(`${service.docsUrl}/errors/${code.toLowerCase()}`);
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(page.bytes.toString()).toContain(row.advice);
  }
  expect((await send(`${service.docsUrl}/errors/no_such_error`)).status).toBe(404);
  expect((await send(`${service.docsUrl}/errors/INTERNAL_ERROR`)).status).toBe(404);
});
