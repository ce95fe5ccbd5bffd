/** The control interface over HTTP, on a service with small engines. */
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { CONTROL_LIST } from '../../../src/protocol/control-operations.ts';
import { createService, type ServiceOptions, scriptFaults } from '../../../src/service/index.ts';
import { createCaller, exchange, type Reply } from '../harness/caller.ts';
import { makeStateDir, until } from '../harness/scene.ts';
import { createSmallEngines } from '../harness/small-engines.ts';

const LINES = [{ index: 1, start_ms: 0, end_ms: 1, text: 'a' }];
const DUBBING = { subtitle: { type: 'lines', lines: LINES }, target_language: 'es' };
const DAY_SECONDS = 86_400;

async function start(options: Partial<ServiceOptions> = {}) {
  const stateDir = await makeStateDir();
  const service = await createService({ stateDir, engines: createSmallEngines(), control: true, ...options });
  onTestFinished(() => service.close());
  const { control, newKey } = service;
  if (control === null || newKey === null) throw new Error('the service has no control interface or no key');
  let ahead = 0;
  /** Sends a control request; an answer with a clock sets the time of signatures. */
  const ask = async (method: string, path: string, fields?: object, url = control.url): Promise<Reply> => {
    const body = fields === undefined ? undefined : JSON.stringify(fields);
    const headers = {
      Authorization: `Bearer ${control.token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    };
    const reply = await exchange(url + path, { method, headers, ...(body === undefined ? {} : { body }) });
    ahead = reply.json?.offset_seconds ?? ahead;
    return reply;
  };
  const callerFor = (url: string, { key, secret }: { key: string; secret: string }) =>
    createCaller(url, { key, secret }, () => Date.now() + ahead * 1000);
  return { stateDir, service, control, newKey, ask, callerFor, caller: callerFor(service.url, newKey) };
}

type Started = Awaited<ReturnType<typeof start>>;

function untilEnded({ caller }: Pick<Started, 'caller'>, id: string, path = 'dubbings'): Promise<Reply> {
  return until(
    () => caller.get(`/v1/${path}/${id}`),
    (reply) => !['queued', 'processing'].includes(reply.json.status),
  );
}

describe('access', () => {
  it('is off unless it is asked for', async () => {
    const stateDir = await makeStateDir();
    const service = await createService({ stateDir, engines: createSmallEngines() });
    onTestFinished(() => service.close());
    expect(service.control).toBeNull();
    await expect(stat(join(stateDir, 'control.json'))).rejects.toThrow('ENOENT');
  });

  it('needs the token', async () => {
    const { control } = await start();
    for (const token of ['', 'Bearer', 'Bearer wrong', `Basic ${control.token}`, control.token]) {
      const headers = { Authorization: token };
      const reply = await exchange(`${control.url}/clock`, { headers });
      expect([token, reply.status, reply.json.code]).toEqual([token, 401, 'AUTHENTICATION_FAILED']);
      expect(reply.headers['www-authenticate']).toBe('Bearer');
    }
  });

  it('refuses other host names and browsers, even with the token', async () => {
    const { control } = await start();
    const { port } = new URL(control.url);
    const send = (headers: Record<string, string>) =>
      exchange(`${control.url}/clock`, { headers: { Authorization: `Bearer ${control.token}`, ...headers } });
    expect((await send({ Host: `localhost:${port}` })).status).toBe(200);
    for (const headers of [
      { Host: `rebound.example:${port}` },
      { Host: '127.0.0.1' },
      { Origin: 'http://evil.example' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'same-origin' },
    ]) {
      const reply = await send(headers);
      expect([headers, reply.status]).toEqual([headers, 400]);
      expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    const preflight = await exchange(`${control.url}/clock/advance`, {
      method: 'OPTIONS',
      headers: { Origin: 'http://evil.example', 'Access-Control-Request-Method': 'POST' },
    });
    expect(preflight.status).toBe(400);
  });

  it('listens on loopback only, whatever the service listens on', async () => {
    const { control } = await start({ host: '0.0.0.0' });
    expect(new URL(control.url).hostname).toBe('127.0.0.1');
  });

  it('is found through a private file while it runs, and the file does not outlive it', async () => {
    const { stateDir, service, control } = await start();
    const file = join(stateDir, 'control.json');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(control);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await service.close();
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });
});

describe('requests', () => {
  it('name what is wrong with them', async () => {
    const { ask, control } = await start();
    const refused = async (method: string, path: string, fields?: object) => {
      const { status, json } = await ask(method, path, fields);
      return [status, json.errors?.map(({ pointer }: { pointer: string }) => pointer) ?? json.code];
    };
    expect(await refused('GET', '/nothing')).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(await refused('POST', '/clock')).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(await refused('POST', '/clock/advance')).toEqual([400, ['seconds']]);
    expect(await refused('POST', '/clock/advance', { seconds: -1 })).toEqual([400, ['seconds']]);
    expect(await refused('POST', '/clock/advance', { seconds: 1, by: 2 })).toEqual([400, ['by']]);
    expect(await refused('POST', '/credits', { credits: 0 })).toEqual([400, ['credits']]);
    expect(await refused('POST', '/credits', { credits: 1, expires_at: '2030-02-30T00:00:00Z' })).toEqual([
      400,
      ['expires_at'],
    ]);
    expect(await refused('POST', '/keys', { permissions: ['flying'] })).toEqual([400, ['permissions']]);
    expect(await refused('POST', '/keys', { allowed_addresses: ['x'] })).toEqual([
      400,
      ['allowed_addresses'],
    ]);
    expect(await refused('POST', '/keys', { rate: { requests: 0, window_seconds: 1 } })).toEqual([
      400,
      ['rate'],
    ]);
    expect(await refused('POST', '/keys', { monthly_quota_credits: -1 })).toEqual([
      400,
      ['monthly_quota_credits'],
    ]);
    expect(await refused('PATCH', '/keys/vk_nobody', {})).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(await refused('POST', '/work/fail', { code: 'NONE' })).toEqual([400, ['code']]);
    expect(await refused('GET', '/webhooks?status=lost')).toEqual([400, ['status']]);
    expect(await refused('POST', '/webhooks/evt_none/resend')).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(await refused('POST', '/workspaces', { settings: { port: 1 } })).toEqual([400, ['settings/port']]);
    expect(await refused('POST', '/workspaces', { settings: { rate: {} } })).toEqual([
      400,
      ['settings/rate/requests', 'settings/rate/window_seconds'],
    ]);
    expect(await refused('GET', '/workspaces/ws_none/clock')).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(await refused('POST', '/faults', { on: 'POST /nothing', status: 503 })).toEqual([400, ['on']]);
    expect(await refused('POST', '/faults', { on: 'POST /dubbings', drop: 'after', status: 503 })).toEqual([
      400,
      ['status'],
    ]);
    const two = [
      { on: 'POST /dubbings', status: 503 },
      { on: 'POST /dubbings', status: 503, code: 'RATE_LIMIT_EXCEEDED' },
    ];
    expect(await refused('PUT', '/faults', { faults: two })).toEqual([400, ['faults/1/code']]);
    const headers = { Authorization: `Bearer ${control.token}`, 'Content-Type': 'text/plain' };
    const text = await exchange(`${control.url}/work/hold`, { method: 'POST', headers, body: '{}' });
    expect(text.status).toBe(415);
  });

  it('reach every operation of the table, which refuses fields that it does not have', async () => {
    const { ask } = await start();
    for (const { method, path } of CONTROL_LIST) {
      const inBody = method !== 'GET' && method !== 'DELETE';
      const target = path.replace(/\{\w+\}/, 'none') + (inBody ? '' : '?no_such_field=1');
      const { status, json } = await ask(method, target, inBody ? { no_such_field: 1 } : undefined);
      const pointers = json.errors?.map(({ pointer }: { pointer: string }) => pointer);
      expect([method, path, status, pointers?.[0]]).toEqual([method, path, 400, 'no_such_field']);
    }
  });
});

test('the clock moves what expires, and nothing of it is stored', async () => {
  const started = await start();
  const { ask, caller, stateDir, service } = started;
  const { json: job } = await caller.post('/v1/dubbings', DUBBING);
  const { json: done } = await untilEnded(started, job.id);
  const link = done.result.audio.url;
  expect((await exchange(link)).status).toBe(200);
  const { json: clock } = await ask('POST', '/clock/advance', { seconds: DAY_SECONDS + 1 });
  expect(clock).toMatchObject({ frozen: false, offset_seconds: DAY_SECONDS + 1 });
  expect((await exchange(link)).status).toBe(410);

  await service.close();
  const next = await createService({ stateDir, engines: createSmallEngines(), control: true });
  onTestFinished(() => next.close());
  const headers = { Authorization: `Bearer ${next.control?.token}` };
  expect((await exchange(`${next.control?.url}/clock`, { headers })).json.offset_seconds).toBe(0);
});

test('a frozen clock shows one time until it is advanced or resumed, and the service can still be closed', async () => {
  const { ask, caller, service } = await start();
  const { json: frozen } = await ask('POST', '/clock/freeze');
  expect((await ask('GET', '/clock')).json.now).toBe(frozen.now);
  const { json: job } = await caller.post('/v1/dubbings', DUBBING);
  expect(job.created_at).toBe(frozen.now);
  const { json: moved } = await ask('POST', '/clock/advance', { seconds: 1.5 });
  expect(Date.parse(moved.now) - Date.parse(frozen.now)).toBe(1500);
  expect((await ask('POST', '/clock/resume')).json.frozen).toBe(false);
  await ask('POST', '/clock/freeze');
  await service.close();
});

test('faults are added, listed, replaced and removed while the service runs', async () => {
  const { ask, caller } = await start();
  const refuse = { on: 'POST /dubbings', status: 503, retry_after: 3, times: 2 };
  expect((await ask('POST', '/faults', refuse)).json.data).toEqual([refuse]);
  const reply = await caller.post('/v1/dubbings', DUBBING, 'k');
  expect([reply.status, reply.headers['retry-after']]).toEqual([503, '3']);
  expect((await ask('GET', '/faults')).json.data).toEqual([{ ...refuse, times: 1 }]);

  const lose = { on: 'POST /dubbings', drop: 'after', times: 'always' };
  const invalid = [lose, { on: 'POST /dubbings' }];
  expect((await ask('PUT', '/faults', { faults: invalid })).status).toBe(400);
  // An invalid list changes nothing.
  expect((await ask('GET', '/faults')).json.data).toEqual([{ ...refuse, times: 1 }]);
  expect((await ask('PUT', '/faults', { faults: [lose] })).json.data).toEqual([lose]);
  await expect(caller.post('/v1/dubbings', DUBBING, 'k')).rejects.toThrow('socket hang up');
  expect((await ask('DELETE', '/faults')).json.data).toEqual([]);
  expect((await caller.post('/v1/dubbings', DUBBING, 'k')).headers['idempotency-replayed']).toBe('true');
});

test('work is held, released and made to fail', async () => {
  const started = await start({ config: { attempts: 2 } });
  const { ask, caller } = started;
  expect((await ask('POST', '/work/hold')).json).toEqual({ held: true, waiting: 0, failures: 0 });
  const { json: held } = await caller.post('/v1/dubbings', DUBBING);
  await until(
    () => ask('GET', '/work'),
    ({ json }) => json.waiting === 1,
  );
  expect((await caller.get(`/v1/dubbings/${held.id}`)).json.status).toBe('processing');
  await ask('POST', '/work/release');
  expect((await untilEnded(started, held.id)).json.status).toBe('succeeded');

  await ask('POST', '/work/fail', { code: 'SUBTITLE_INVALID', message: 'no words' });
  const { json: failed } = await caller.post('/v1/dubbings', DUBBING);
  expect((await untilEnded(started, failed.id)).json.error).toMatchObject({
    code: 'SUBTITLE_INVALID',
    message: 'no words',
  });

  expect((await ask('POST', '/work/fail')).json.failures).toBe(1);
  const { json: retried } = await caller.post('/v1/dubbings', DUBBING);
  await until(
    () => ask('POST', '/clock/advance', { seconds: 2 }),
    ({ json }) => json.offset_seconds >= 20,
  );
  expect((await untilEnded(started, retried.id)).json.status).toBe('succeeded');
});

test('credits are granted, also such that expire', async () => {
  const { ask, caller } = await start({ config: { openingCredits: 5 } });
  expect((await ask('GET', '/credits')).json).toEqual({
    available_credits: 5,
    balance_credits: 5,
    reserved_credits: 0,
  });
  const tomorrow = new Date(Date.now() + DAY_SECONDS * 1000).toISOString();
  expect((await ask('POST', '/credits', { credits: 2.5, expires_at: tomorrow })).json.available_credits).toBe(
    7.5,
  );
  expect((await caller.get('/v1/credits')).json.available_credits).toBe(7.5);
  await ask('POST', '/clock/advance', { seconds: DAY_SECONDS + 1 });
  expect((await caller.get('/v1/credits')).json.available_credits).toBe(5);
});

test('keys are created, changed, disabled, enabled and rotated', async () => {
  const { ask, callerFor, service } = await start();
  const { json: made } = await ask('POST', '/keys', { permissions: ['dubbing'], monthly_quota_credits: 3 });
  const caller = callerFor(service.url, made);
  expect((await caller.get('/v1/audio-separations')).status).toBe(403);
  expect((await caller.get('/v1/credits')).json.monthly_usage.limit_credits).toBe(3);

  const path = `/keys/${made.key}`;
  const { json: changed } = await ask('PATCH', path, { monthly_quota_credits: null });
  expect(changed).toMatchObject({ permissions: ['dubbing'], monthly_quota_credits: null, revoked_at: null });
  expect((await caller.get('/v1/credits')).json.monthly_usage.limit_credits).toBeNull();

  expect((await ask('POST', `${path}/disable`)).json.revoked_at).toMatch(/^\d{4}-/);
  expect((await caller.get('/v1/credits')).status).toBe(401);
  await ask('PATCH', path, { permissions: ['dubbing', 'audio_separation'] });
  expect((await caller.get('/v1/credits')).status).toBe(401);
  expect((await ask('POST', `${path}/enable`)).json).toMatchObject({
    permissions: ['audio_separation', 'dubbing'],
    revoked_at: null,
  });
  expect((await caller.get('/v1/credits')).status).toBe(200);

  const { json: rotated } = await ask('POST', `${path}/rotate`, { only: 'secret' });
  expect(rotated.webhook_secret).toBe(made.webhook_secret);
  expect((await caller.get('/v1/credits')).status).toBe(401);
  expect((await callerFor(service.url, rotated).get('/v1/credits')).status).toBe(200);
  expect(JSON.stringify((await ask('GET', '/keys')).json)).not.toContain(rotated.secret);
});

test('a key gets its own rate, and other keys keep theirs', async () => {
  const { ask, callerFor, service, caller } = await start();
  const rate = { requests: 1, window_seconds: 60 };
  const { json: made } = await ask('POST', '/keys', { rate });
  const limited = callerFor(service.url, made);
  expect((await limited.get('/v1/credits')).headers['ratelimit-policy']).toBe('"requests";q=1;w=60');
  expect((await limited.get('/v1/credits')).status).toBe(429);
  expect((await caller.get('/v1/credits')).headers['ratelimit-policy']).toBe('"requests";q=6000;w=60');
  const { json } = await ask('PATCH', `/keys/${made.key}`, { rate: null });
  expect(json.rate).toBeNull();
  expect((await limited.get('/v1/credits')).status).toBe(200);
});

test('webhooks that were not delivered are listed and sent again, with a new secret if it was rotated', async () => {
  const received: { id: unknown; signature: unknown }[] = [];
  const statuses = [410, 204];
  const receiver = createServer((request, response) => {
    const { 'x-service-webhook-id': id, 'x-service-webhook-signature': signature } = request.headers;
    received.push({ id, signature });
    request.resume().on('end', () => response.writeHead(statuses.shift() ?? 204).end());
  });
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void receiver.close());
  const address = receiver.address();
  const port = typeof address === 'object' ? address?.port : 0;

  const { ask, caller, newKey } = await start({ allowLoopback: true });
  const callback_url = `http://127.0.0.1:${port}/hook`;
  const { json: job } = await caller.post('/v1/dubbings', { ...DUBBING, callback_url });
  // The receiver answered with 410, which ends the attempts.
  const { json: list } = await until(
    () => ask('GET', '/webhooks'),
    (reply) => reply.json.data[0]?.status === 'abandoned',
  );
  const [webhook] = list.data;
  expect(webhook).toMatchObject({
    type: 'dubbing.succeeded',
    job_id: job.id,
    key: newKey.key,
    url: callback_url,
  });
  await ask('POST', `/keys/${newKey.key}/rotate`, { only: 'webhook_secret' });
  expect((await ask('POST', `/webhooks/${webhook.id}/resend`)).json.status).toBe('pending');
  await until(
    () => ask('GET', '/webhooks?status=delivered'),
    (reply) => reply.json.data.length === 1,
  );
  expect((await ask('GET', '/webhooks')).json.data).toEqual([]);
  expect(received.map(({ id }) => id)).toEqual([webhook.id, webhook.id]);
  expect(received[0]?.signature).not.toBe(received[1]?.signature);
  // A delivered webhook is sent again too, as a receiver may get an event twice.
  await ask('POST', `/webhooks/${webhook.id}/resend`);
  await until(
    () => received.length,
    (count) => count === 3,
  );
});

test('a workspace has its own account, clock, faults and address, and is gone after it is closed', async () => {
  const { ask, caller, callerFor } = await start({
    config: { headerPrefix: 'X-Service', openingCredits: 9 },
  });
  const { json: made } = await ask('POST', '/workspaces', { settings: { opening_credits: 5 } });
  expect((await ask('GET', '/workspaces')).json.data).toMatchObject([{ id: made.id }]);
  const other = callerFor(made.base_url, made);
  expect((await other.get('/v1/credits')).json.balance_credits).toBe(5);
  expect((await other.post('/v1/dubbings', DUBBING)).status).toBe(202);
  expect((await caller.get('/v1/dubbings')).json.data).toEqual([]);

  await ask('POST', '/faults', { on: 'GET /credits', status: 503 }, made.control_url);
  expect((await caller.get('/v1/credits')).json.balance_credits).toBe(9);
  expect((await other.get('/v1/credits')).status).toBe(503);
  await ask('POST', '/clock/freeze', undefined, made.control_url);
  expect((await ask('GET', '/clock')).json.frozen).toBe(false);
  expect((await ask('GET', '/workspaces', undefined, made.control_url)).status).toBe(404);

  await ask('DELETE', `/workspaces/${made.id}`);
  expect((await ask('GET', '/clock', undefined, made.control_url)).status).toBe(404);
  await expect(exchange(`${made.base_url}/credits`)).rejects.toThrow('ECONNREFUSED');
});

test('faults of the program happen to requests that those of the control interface do not affect', async () => {
  const faults = scriptFaults([{ on: 'GET /credits', status: 503 }]);
  const { ask, caller } = await start({ faults });
  await ask('POST', '/faults', { on: 'GET /credits', drop: 'before' });
  await expect(caller.get('/v1/credits')).rejects.toThrow('socket hang up');
  expect(faults.pending()).toHaveLength(1);
  expect((await caller.get('/v1/credits')).status).toBe(503);
  expect((await caller.get('/v1/credits')).status).toBe(200);
});
