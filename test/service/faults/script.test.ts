import { expect, test } from 'vitest';
import { createMovableClock } from '../../../src/service/control/clock.ts';
import { type Fault, type FaultRoute, scriptFaults } from '../../../src/service/index.ts';
import { send, signHeaders } from '../harness/caller.ts';
import {
  DUBBING,
  finishUpload,
  putObject,
  readySource,
  startScene,
  until,
  untilJob,
} from '../harness/scene.ts';
import { videoOf } from '../harness/small-engines.ts';

async function startWith(...list: Fault[]) {
  const clock = createMovableClock();
  const faults = scriptFaults(list, { clock });
  return { faults, ...(await startScene({ faults, clock })), clock };
}

test('an operation fails as often as the script says, and other operations continue', async () => {
  const { faults, caller } = await startWith({
    on: 'POST /dubbings',
    times: 2,
    status: 503,
    code: 'SERVICE_TEMPORARILY_UNAVAILABLE',
    retryAfter: 3,
  });
  for (const left of [1, 0]) {
    const reply = await caller.post('/v1/dubbings', DUBBING, 'k');
    expect([reply.status, reply.headers['retry-after']]).toEqual([503, '3']);
    expect(reply.json).toMatchObject({
      code: 'SERVICE_TEMPORARILY_UNAVAILABLE',
      retryable: true,
      instance: '/v1/dubbings',
      request_id: reply.headers['x-request-id'],
    });
    expect(faults.pending().map(({ times }) => times)).toEqual(left === 0 ? [] : [left]);
    expect((await caller.get('/v1/dubbings')).json.data).toEqual([]);
  }
  const reply = await caller.post('/v1/dubbings', DUBBING, 'k');
  expect([reply.status, reply.headers['idempotency-replayed']]).toEqual([202, 'false']);
});

test('a connection dropped after the work leaves a job that the same key finds again', async () => {
  const { caller } = await startWith({ on: 'POST /dubbings', drop: 'after' });
  await expect(caller.post('/v1/dubbings', DUBBING, 'k')).rejects.toThrow('socket hang up');
  const [made] = (await caller.get('/v1/dubbings')).json.data;
  const again = await caller.post('/v1/dubbings', DUBBING, 'k');
  expect([again.json.id, again.headers['idempotency-replayed']]).toEqual([made.id, 'true']);
});

test('a connection dropped before the work leaves nothing', async () => {
  const { caller } = await startWith({ on: 'POST /dubbings', drop: 'before' });
  await expect(caller.post('/v1/dubbings', DUBBING)).rejects.toThrow('socket hang up');
  expect((await caller.get('/v1/dubbings')).json.data).toEqual([]);
});

test('an error after the work hides its result', async () => {
  const { caller } = await startWith({ on: 'POST /dubbings', status: 500, when: 'after' });
  expect((await caller.post('/v1/dubbings', DUBBING)).json.code).toBe('INTERNAL_ERROR');
  expect((await caller.get('/v1/dubbings')).json.data).toHaveLength(1);
});

test('a status without a code in the service is sent as the page of a proxy', async () => {
  const { caller } = await startWith({ on: 'GET /credits', status: 502 });
  const reply = await caller.get('/v1/credits');
  expect([reply.status, reply.headers['content-type']]).toEqual([502, 'text/html']);
  expect((await caller.get('/v1/credits')).status).toBe(200);
});

test('a body is sent unchanged, however wrong', async () => {
  const { caller, service } = await startWith(
    { on: 'GET /credits', body: '{"balance_credits":' },
    { on: 'GET /credits', body: '<p>', status: 502, headers: { 'Content-Type': 'text/html' } },
  );
  const malformed = await fetch(`${service.url}/credits`);
  expect([malformed.status, malformed.headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(await malformed.text()).toBe('{"balance_credits":');
  const { status, bytes } = await caller.get('/v1/credits');
  expect([status, bytes.toString()]).toEqual([502, '<p>']);
});

test('an answer waits for its delay, by the clock of the script', async () => {
  const { clock, caller } = await startWith({ on: 'GET /credits', delayMs: 60_000 });
  let answered = false;
  const reply = caller.get('/v1/credits').finally(() => {
    answered = true;
  });
  expect((await caller.get('/v1/dubbings')).status).toBe(200);
  expect(answered).toBe(false);
  await until(
    () => clock.advance(20_000),
    () => answered,
  );
  expect((await reply).status).toBe(200);
});

test('a caller who leaves during a delay is not served', async () => {
  const { faults, service, caller, credentials, clock, engines } = await startWith();
  engines.hold();
  const { json: job } = await caller.post('/v1/dubbings', DUBBING);
  faults.add({ on: 'DELETE /dubbings/{dubbing_id}', delayMs: 60_000 });
  const signed = { method: 'DELETE', path: job.detail_url, body: '', nowMs: clock.now() };
  const leaving = new AbortController();
  const call = fetch(new URL(job.detail_url, service.url), {
    method: 'DELETE',
    headers: { ...signHeaders(credentials, signed), 'Idempotency-Key': 'k' },
    signal: leaving.signal,
  });
  await until(() => faults.pending().length === 0);
  leaving.abort();
  await expect(call).rejects.toThrow('abort');
  // Had it been served late, the job would be cancelled by the time of the second of these.
  await caller.get('/v1/credits');
  clock.advance(60_000);
  expect((await caller.get(job.detail_url)).json.status).not.toBe('cancelled');
});

test('the transfers of bytes can fail too', async () => {
  const { faults, caller } = await startWith(
    { on: 'PUT /objects/{upload_id}', status: 503 },
    { on: 'PUT /objects/{upload_id}', drop: 'after' },
  );
  const bytes = videoOf(60);
  const file = { purpose: 'source_video', file_name: 'a.mp4', content_type: 'video/mp4' };
  const reserved = await caller.post('/v1/uploads', { ...file, size_bytes: bytes.length });
  expect((await putObject(reserved, bytes)).status).toBe(503);
  await expect(putObject(reserved, bytes)).rejects.toThrow('socket hang up');
  // It has arrived all the same.
  const { status, headers } = await putObject(reserved, bytes);
  expect([status, headers.etag]).toEqual([200, expect.stringMatching(/^"[0-9a-f]{32}"$/)]);
  expect(faults.pending()).toEqual([]);
});

test('a download breaks off after so many bytes, and is whole afterwards', async () => {
  const { caller } = await startWith(
    { on: 'GET /assets/{job_id}/{name}', cutAfterBytes: 5 },
    { on: 'GET /assets/{job_id}/{name}', drop: 'after' },
  );
  const source = await readySource(caller);
  const created = await caller.post('/v1/audio-separations', { source });
  const { result } = await untilJob(caller, created.json, 'succeeded');
  const response = await fetch(result.vocal_audio.url);
  expect(response.headers.get('content-length')).toBe(String(result.vocal_audio.size_bytes));
  const reader = response.body?.getReader();
  expect((await reader?.read())?.value).toHaveLength(5);
  await expect(reader?.read()).rejects.toThrow('terminated');
  await expect(fetch(result.vocal_audio.url)).rejects.toThrow('fetch failed');
  expect((await send(result.vocal_audio.url)).bytes).toHaveLength(result.vocal_audio.size_bytes);
});

test('a list breaks off as well', async () => {
  const { service, caller } = await startWith({ on: 'GET /credits', cutAfterBytes: 10 });
  await expect(caller.get('/v1/credits')).rejects.toThrow('aborted');
  expect((await caller.get('/v1/credits')).status).toBe(200);
  expect((await fetch(`${service.url}/credits`)).status).toBe(400);
});

test('faults can be added while the service runs, and occur in their order', async () => {
  const { faults, caller } = await startWith({ on: 'GET /credits', status: 503 });
  faults.add({ on: 'GET /credits', status: 429 }, { on: 'GET /uploads/{upload_id}', status: 500 });
  expect(faults.pending().map(({ on }) => on)).toEqual([
    'GET /credits',
    'GET /credits',
    'GET /uploads/{upload_id}',
  ]);
  expect((await caller.get('/v1/credits')).status).toBe(503);
  expect((await caller.get('/v1/credits?x=1')).json.code).toBe('RATE_LIMIT_EXCEEDED');
  expect((await caller.get('/v1/uploads/upl_01arz3ndektsv4rrffq69g5fav')).status).toBe(500);
  expect(faults.pending()).toEqual([]);
});

test('a fault without end remains', async () => {
  const { faults, caller } = await startWith({ on: 'GET /credits', times: Infinity, status: 503 });
  for (let call = 0; call < 3; call += 1) expect((await caller.get('/v1/credits')).status).toBe(503);
  expect(faults.pending()).toHaveLength(1);
});

test('a script without faults changes nothing', async () => {
  const { caller } = await startWith();
  expect((await finishUpload(caller, videoOf(60))).status).toBe('ready');
});

test.each<[string, object, string]>([
  ['an unknown route', { on: 'POST /dubbing', status: 503 }, 'is not a route; choose one of GET /credits,'],
  ['nothing to do', { on: 'GET /credits' }, 'must say what happens'],
  [
    'two things to do',
    { on: 'GET /credits', drop: 'after', status: 503 },
    'status cannot be combined with drop',
  ],
  ['an unknown word', { on: 'GET /credits', status: 503, retry_after: 1 }, 'retry_after cannot be combined'],
  ['a half time', { on: 'GET /credits', times: 0.5, status: 503 }, 'times must be 1 or more'],
  ['no time', { on: 'GET /credits', times: 0, status: 503 }, 'times must be 1 or more'],
  ['an invalid status', { on: 'GET /credits', status: 99 }, 'status must be from 200 to 599'],
  ['an unknown code', { on: 'GET /credits', status: 503, code: 'BUSY' }, '"BUSY" is not an error code'],
  ['the code of another status', { on: 'GET /credits', status: 500, code: 'INVALID_REQUEST' }, '400'],
  ['a drop without a time', { on: 'GET /credits', drop: 'never' }, 'drop must be before or after'],
  ['an unknown moment', { on: 'GET /credits', status: 503, when: 'soon' }, 'when must be before or after'],
  ['an empty cut', { on: 'GET /credits', cutAfterBytes: 0 }, 'cutAfterBytes must be 1 or more'],
  ['a negative delay', { on: 'GET /credits', delayMs: -1 }, 'delayMs must be'],
])('a fault with %s is refused immediately', (_name, wrong, said) => {
  const fault = wrong as Fault; // what a program without types may hand in
  expect(() => scriptFaults([fault])).toThrow(said);
  const script = scriptFaults();
  expect(() => script.add({ on: 'GET /credits', status: 503 }, fault)).toThrow(TypeError);
  expect(script.pending()).toEqual([]);
});

test('a route that does not exist does not compile', () => {
  const routes: FaultRoute[] = ['POST /auto-localizations', 'GET /assets/{job_id}/{name}'];
  expect(routes).toHaveLength(2);
  // @ts-expect-error the name of the kind is not its path
  expect(() => scriptFaults([{ on: 'POST /auto_localizations', drop: 'after' }])).toThrow(TypeError);
});
