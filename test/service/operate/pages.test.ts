import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import type { RequestRecord } from '../../../src/service/index.ts';
import { sendRaw } from '../../conformance/wire/raw.ts';
import { findFreePort } from '../../support/free-port.ts';
import { exchange, send } from '../harness/caller.ts';
import { DUBBING, finishUpload, readySource, startScene, until, untilJob } from '../harness/scene.ts';
import { videoOf } from '../harness/small-engines.ts';
import { changeStore } from '../harness/stores.ts';

const originOf = (url: string) => new URL(url).origin;

test('the document of the interface is served without a signature, for the address and the prefix in use', async () => {
  const { service } = await startScene({ config: { headerPrefix: 'X-Vendor' } });
  const reply = await send(`${service.url}/openapi.json`);
  expect(reply.status).toBe(200);
  expect(reply.json.servers).toEqual([{ url: service.url }]);
  expect(reply.json.components.securitySchemes.key.name).toBe('X-Vendor-Key');
  expect(await new Validator().validate(reply.json)).toEqual({ valid: true });
});

test('each health address has one meaning: the process runs, it answers requests, its parts work', async () => {
  const { service, stateDir, clock, logged } = await startScene({ config: { workers: 0 } });
  clock.freeze();
  // Within a second the answer of before is good enough: asking must not become writing.
  const ask = async (path: string, passMs = 1000) => {
    clock.advance(passMs);
    const { status, json } = await send(originOf(service.url) + path);
    return [status, json];
  };
  const ok = { status: 'ok', database: 'ok', storage: 'ok', queue: 'ok' };
  expect(await ask('/readyz')).toEqual([200, ok]);
  expect(await ask('/healthz')).toEqual([200, expect.objectContaining(ok)]);
  expect((await ask('/healthz'))[1].disk_free_bytes).toBeGreaterThan(0);
  // Reads, reservations and jobs are still accepted.
  await rm(join(stateDir, 'assets'), { recursive: true });
  const storage = 'the files cannot be written';
  expect(await ask('/readyz')).toEqual([200, { ...ok, status: 'degraded', storage }]);
  expect((await ask('/healthz'))[0]).toBe(200);
  await mkdir(join(stateDir, 'assets'));
  changeStore(stateDir, 'DROP TABLE secrets');
  const database = 'the store cannot be written';
  expect((await ask('/readyz', 0))[0]).toBe(200);
  expect(await ask('/readyz')).toEqual([503, { ...ok, status: 'failing', database }]);
  expect(logged.find(({ message }) => message === database)?.error).toBeDefined();
  expect((await ask('/healthz'))[0]).toBe(503);
  expect(await ask('/livez')).toEqual([200, { status: 'ok' }]);
});

test('a check by HTTP/1.0, as HAProxy sends it (`option httpchk`), needs no Host header', async () => {
  const { service } = await startScene({ metricsFrom: ['127.0.0.1'] });
  for (const path of ['/livez', '/readyz', '/healthz', '/metrics']) {
    for (const method of ['GET', 'HEAD']) {
      const { text } = await sendRaw(originOf(service.url), `${method} ${path} HTTP/1.0\r\n\r\n`);
      expect(text, `${method} ${path}`).toMatch(/^HTTP\/1\.1 200 /);
      expect(text.split('\r\n\r\n')[1] === '').toBe(method === 'HEAD');
    }
  }
});

test('/healthz and /metrics are not for web pages whose name leads to this machine', async () => {
  const port = await findFreePort();
  await startScene({
    port,
    metricsFrom: ['127.0.0.1'],
    config: { publicOrigin: 'https://media.example.com' },
  });
  const ask = async (path: string, Host: string) => {
    const { status, json } = await exchange(`http://127.0.0.1:${port}${path}`, { headers: { Host } });
    return status === 200 ? 200 : [status, json.errors?.[0].pointer];
  };
  for (const path of ['/healthz', '/metrics']) {
    for (const host of [
      '127.0.0.1',
      '[::1]:80',
      'localhost:80',
      'vloc:8080',
      '192.0.2.1',
      'media.example.com',
    ]) {
      expect([path, host, await ask(path, host)]).toEqual([path, host, 200]);
    }
    for (const host of [
      'rebound.example',
      `rebound.example:${port}`,
      'media.example.com.evil.example',
      '1.evil',
      ':',
    ]) {
      expect([path, host, await ask(path, host)]).toEqual([path, host, [400, 'host']]);
    }
  }
  // Proxies and supervisors ask these under any name.
  expect(await ask('/readyz', 'rebound.example')).toBe(200);
  expect(await ask('/livez', 'rebound.example')).toBe(200);
});

test('/readyz is 503 while a closing service still answers requests', async () => {
  const { service, caller } = await startScene({ shutdownDelayMs: 60_000 });
  const hurry = new AbortController();
  const left = service.drain(hurry.signal);
  const ready = await send(`${originOf(service.url)}/readyz`);
  expect([ready.status, ready.json]).toEqual([503, { status: 'closing' }]);
  expect(ready.headers.connection).toBe('close');
  expect((await caller.get('/v1/credits')).status).toBe(200);
  hurry.abort();
  await left;
});

test('/metrics answers without the store, and says so', async () => {
  const { service, stateDir } = await startScene({ metricsFrom: ['127.0.0.1'], config: { workers: 0 } });
  const read = async () => (await send(`${originOf(service.url)}/metrics`)).bytes.toString().split('\n');
  expect(await read()).toContain('vloc_database_up 1');
  changeStore(stateDir, 'DROP TABLE ledger');
  const lines = await read();
  expect(lines).toContain('vloc_database_up 0');
  expect(lines).toContain('vloc_node_jobs_running 0');
  expect(lines.join()).not.toContain('vloc_credits');
});

test('/metrics shows how long jobs have waited, also those whose worker died', async () => {
  const { service, caller, clock, stateDir } = await startScene({
    metricsFrom: ['127.0.0.1'],
    config: { workers: 0 },
  });
  await caller.post('/v1/dubbings', DUBBING);
  clock.advance(90_000);
  const read = async () => (await send(`${originOf(service.url)}/metrics`)).bytes.toString();
  const expectWaiting = (text: string) => {
    expect(Number(/^vloc_job_oldest_waiting_seconds (.*)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(90);
    expect(text).toContain('vloc_job_queue_length 1\n');
  };
  expectWaiting(await read());
  changeStore(stateDir, "UPDATE jobs SET status = 'processing', lease_owner = 'dead', lease_until = 1");
  expectWaiting(await read());
});

test('/metrics counts requests by operation and status, and describes the content of the store', async () => {
  const { service, caller } = await startScene({ metricsFrom: ['127.0.0.1'] });
  const source = await readySource(caller, 90);
  const created = await caller.post('/v1/audio-separations', { source });
  await untilJob(caller, created.json, 'succeeded');
  await caller.get('/v1/uploads?limit=0');
  await send(`${originOf(service.url)}/no/such/path`);
  await send(`${originOf(service.url)}/no/other/path`);
  const metrics = () => send(`${originOf(service.url)}/metrics`);
  // The job has succeeded in the store shortly before this process has ended its work on it.
  await expect.poll(async () => (await metrics()).bytes.toString()).toContain('vloc_node_jobs_running 0\n');
  const reply = await metrics();
  expect(reply.headers['content-type']).toContain('text/plain');
  const text = reply.bytes.toString();
  for (const line of [
    'vloc_requests_total{operation="createAudioSeparation",method="POST",status="202"} 1',
    'vloc_requests_total{operation="listUploads",method="GET",status="400"} 1',
    'vloc_requests_total{operation="none",method="any",status="404"} 2',
    'vloc_request_duration_seconds_count{operation="createUpload"} 1',
    'vloc_jobs{kind="audio_separation",status="succeeded"} 1',
    'vloc_jobs{kind="dubbing",status="queued"} 0',
    'vloc_job_queue_length 0',
    'vloc_job_oldest_waiting_seconds 0',
    'vloc_job_takeovers 0',
    'vloc_nodes{role="all"} 1',
    'vloc_nodes{role="worker"} 0',
    'vloc_node_jobs_running 0',
    'vloc_node_jobs_taken_over 0',
    'vloc_uploads{status="ready"} 1',
    'vloc_credits{part="balance"} 99998',
    'vloc_ledger_credits{side="granted"} 100000',
    'vloc_ledger_credits{side="charged"} 2',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
});

test('/metrics is available only to the configured addresses; for all others it does not exist', async () => {
  const path = (url: string) => `${originOf(url)}/metrics`;
  const none = await startScene();
  expect((await send(path(none.service.url))).status).toBe(404);
  const others = await startScene({ metricsFrom: ['192.0.2.1'], trustedProxies: ['127.0.0.1'] });
  expect((await send(path(others.service.url))).status).toBe(404);
  const named = await send(path(others.service.url), { headers: { 'X-Forwarded-For': '192.0.2.1' } });
  expect(named.status).toBe(200);
});

test('every request is reported with its key and template, and with nothing that its caller wrote', async () => {
  const records: RequestRecord[] = [];
  const { service, caller, credentials } = await startScene({ onRequest: (record) => records.push(record) });
  const upload = await finishUpload(caller, videoOf(1));
  await send(`${service.url}/uploads?cursor=canary`);
  await send(`${originOf(service.url)}/canary`);
  await send(`${originOf(service.url)}/healthz`);
  const last = await until(
    () => records,
    (all) => all.some(({ template }) => template === null),
  );
  expect(last.find(({ operationId }) => operationId === 'createUpload')).toMatchObject({
    method: 'POST',
    template: '/v1/uploads',
    status: 201,
    keyId: credentials.key,
    address: '127.0.0.1',
  });
  expect(last.find(({ template }) => template === '/objects/{upload_id}')).toMatchObject({
    operationId: null,
    status: 200,
    keyId: null,
  });
  const text = JSON.stringify(last);
  expect(text).not.toContain('canary');
  expect(text).not.toContain(upload.id);
  expect(last.map(({ template }) => template)).not.toContain('/healthz');
});
