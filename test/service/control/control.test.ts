/** What the control operations do, over HTTP, on a service with small engines. */

import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { scriptFaults } from '../../../src/service/index.ts';
import { createCaller, exchange, type Reply } from '../harness/caller.ts';
import { startControlledService as start } from '../harness/controlled.ts';
import { DUBBING, startScene, until, untilJob } from '../harness/scene.ts';
import { createSmallEngines } from '../harness/small-engines.ts';
import { changeStore } from '../harness/stores.ts';
import { startReceiver } from '../outgoing/webhooks/receiver.ts';

const DAY_SECONDS = 86_400;

type Started = Awaited<ReturnType<typeof start>>;

const untilEnded = ({ caller }: Pick<Started, 'caller'>, job: Reply['json']) =>
  untilJob(caller, job, 'succeeded', 'failed');

test('the clock moves expiries, without storing anything', async () => {
  const started = await start();
  const { ask, caller, stateDir, service } = started;
  const { json: job } = await caller.post('/v1/dubbings', DUBBING);
  const done = await untilEnded(started, job);
  const link = done.result.audio.url;
  expect((await exchange(link)).status).toBe(200);
  const { json: clock } = await ask('POST', '/clock/advance', { seconds: DAY_SECONDS + 1 });
  expect(clock).toMatchObject({ frozen: false, offset_seconds: DAY_SECONDS + 1 });
  expect((await exchange(link)).status).toBe(410);

  await service.close();
  const { control } = (await startScene({ stateDir, control: true })).service;
  const headers = { Authorization: `Bearer ${control?.token}` };
  expect((await exchange(`${control?.url}/clock`, { headers })).json.offset_seconds).toBe(0);
});

test('the provenance of a job is shown, which no operation of the API returns', async () => {
  const engines = createSmallEngines();
  const started = await start({ engines });
  const use = { step: 'speak', engine: 'openai kokoro', skipped: [] } as const;
  engines.reportProvenance({ engines: [use] });
  const { json: job } = await started.caller.post('/v1/dubbings', DUBBING);
  await untilEnded(started, job);
  const { json } = await started.ask('GET', `/jobs/${job.id}/provenance`);
  expect(json).toEqual({ job_id: job.id, engines: [use], cues: [] });
  expect((await started.ask('GET', '/jobs/dub_0/provenance')).status).toBe(404);
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

test('requests signed with the real time are refused once the clock is 300 s away, with its time in the header Date', async () => {
  const { ask, service, newKey } = await start();
  const real = createCaller(service.url, newKey, Date.now);
  await ask('POST', '/clock/advance', { seconds: 240 });
  expect((await real.get('/v1/credits')).status).toBe(200);
  const { json: moved } = await ask('POST', '/clock/advance', { seconds: 240 });
  const refused = await real.get('/v1/credits');
  expect([refused.status, refused.json.code]).toEqual([401, 'AUTHENTICATION_FAILED']);
  expect(Date.parse(refused.headers.date ?? '')).toBeGreaterThanOrEqual(Date.parse(moved.now) - 1000);

  const client = createClient({ baseUrl: service.url, ...newKey });
  onTestFinished(() => client.close());
  expect((await client.credits.balance()).available_credits).toBeGreaterThan(0);
});

test('in a freeze, a webhook is sent once with the time of the service, and again only when the clock is moved', async () => {
  const receiver = await startReceiver(500, 204);
  const { ask, caller } = await start({ allowLoopback: true });
  const { json: frozen } = await ask('POST', '/clock/freeze');
  await caller.post('/v1/dubbings', { ...DUBBING, callback_url: receiver.url });
  // The receiver answered with 500: the next attempt is due later.
  await until(
    () => ask('GET', '/webhooks'),
    ({ json }) => Date.parse(json.data[0]?.next_attempt_at) > Date.parse(frozen.now),
  );
  expect(receiver.deliveries).toHaveLength(1);
  const [sent] = receiver.deliveries;
  expect(sent?.headers['x-service-webhook-timestamp']).toBe(
    String(Math.floor(Date.parse(frozen.now) / 1000)),
  );

  await ask('POST', '/clock/advance', { seconds: 10 });
  await until(() => receiver.deliveries.length === 2);
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

test('work is paused, resumed and made to fail', async () => {
  const started = await start({ config: { attempts: 2 } });
  const { ask, caller } = started;
  expect((await ask('POST', '/media/hold')).json).toEqual({ held: true, waiting: 0, failures: 0 });
  const { json: held } = await caller.post('/v1/dubbings', DUBBING);
  await until(
    () => ask('GET', '/media'),
    ({ json }) => json.waiting === 1,
  );
  expect((await caller.get(`/v1/dubbings/${held.id}`)).json.status).toBe('processing');
  await ask('POST', '/media/release');
  expect((await untilEnded(started, held)).status).toBe('succeeded');

  await ask('POST', '/media/fail', { code: 'SUBTITLE_INVALID', message: 'no words' });
  const { json: failed } = await caller.post('/v1/dubbings', DUBBING);
  expect((await untilEnded(started, failed)).error).toMatchObject({
    code: 'SUBTITLE_INVALID',
    message: 'no words',
  });

  expect((await ask('POST', '/media/fail')).json.failures).toBe(1);
  const { json: retried } = await caller.post('/v1/dubbings', DUBBING);
  await until(
    () => ask('POST', '/clock/advance', { seconds: 2 }),
    ({ json }) => json.offset_seconds >= 20,
  );
  expect((await untilEnded(started, retried)).status).toBe('succeeded');
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

test('undelivered webhooks are listed and sent again, with a new secret if it was rotated', async () => {
  const { url: callback_url, deliveries } = await startReceiver(410, 204);
  const { ask, caller, newKey, stateDir } = await start({ allowLoopback: true });
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
  // So many processes died while they sent it that it would not be sent again by itself.
  changeStore(stateDir, 'UPDATE deliveries SET crashes = 10');
  expect((await ask('POST', `/webhooks/${webhook.id}/resend`)).json.status).toBe('pending');
  await until(
    () => ask('GET', '/webhooks?status=delivered'),
    (reply) => reply.json.data.length === 1,
  );
  expect((await ask('GET', '/webhooks')).json.data).toEqual([]);
  const header = (name: string) => deliveries.map(({ headers }) => headers[`x-service-webhook-${name}`]);
  expect(header('id')).toEqual([webhook.id, webhook.id]);
  expect(new Set(header('signature')).size).toBe(2);
  // A delivered webhook is sent again too, as a receiver may get an event twice.
  await ask('POST', `/webhooks/${webhook.id}/resend`);
  await until(() => deliveries.length === 3);
});

test('faults of the program affect requests that those of the control interface do not', async () => {
  const faults = scriptFaults([{ on: 'GET /credits', status: 503 }]);
  const { ask, caller } = await start({ faults });
  await ask('POST', '/faults', { on: 'GET /credits', drop: 'before' });
  await expect(caller.get('/v1/credits')).rejects.toThrow('socket hang up');
  expect(faults.pending()).toHaveLength(1);
  expect((await caller.get('/v1/credits')).status).toBe(503);
  expect((await caller.get('/v1/credits')).status).toBe(200);
});
