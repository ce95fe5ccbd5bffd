import { describe, expect, it } from 'vitest';
import { CONTROL_LIST } from '../../../src/service/control/operations.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { exchange } from '../harness/caller.ts';
import { startControlledService as start } from '../harness/controlled.ts';
import { startScene } from '../harness/scene.ts';

describe('access', () => {
  it('is off by default', async () => {
    expect((await startScene()).service.control).toBeNull();
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

  it('accepts the fetch of Node, which sends some of the headers of browsers', async () => {
    const { control } = await start();
    const headers = { Authorization: `Bearer ${control.token}`, 'Content-Type': 'application/json' };
    const parts = { method: 'POST', headers, body: '{"seconds": 1}' };
    expect((await fetch(`${control.url}/clock/advance`, parts)).status).toBe(200);
  });

  it('listens on loopback only, whatever the service listens on', async () => {
    const { control } = await start({ host: '0.0.0.0' });
    expect(new URL(control.url).hostname).toBe('127.0.0.1');
  });

  it('keeps no key if its port is in use, like every start that fails', async () => {
    const { control } = await start();
    const stateDir = makeFolder();
    const port = Number(new URL(control.url).port);
    await expect(startScene({ stateDir, control: { port } })).rejects.toThrow('EADDRINUSE');
    const { service } = await startScene({ stateDir });
    expect(await service.keys()).toEqual([service.newKey]);
  });
});

describe('requests', () => {
  it('are refused with what is wrong', async () => {
    const { ask, control } = await start();
    const refused = async (method: string, path: string, fields?: object) => {
      const { status, json } = await ask(method, path, fields);
      return [status, json.errors?.map(({ pointer }: { pointer: string }) => pointer) ?? json.code];
    };
    expect(await refused('GET', '/nothing')).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(await refused('POST', '/clock')).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(await refused('POST', '/clock/advance')).toEqual([400, ['seconds']]);
    expect(await refused('POST', '/clock/advance', { seconds: -1 })).toEqual([400, ['seconds']]);
    expect(await refused('POST', '/clock/advance', { seconds: 1e15 })).toEqual([400, ['seconds']]);
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
    expect(await refused('POST', '/media/fail', { code: 'NONE' })).toEqual([400, ['code']]);
    expect(await refused('GET', '/webhooks?status=lost')).toEqual([400, ['status']]);
    expect(await refused('POST', '/webhooks/evt_none/resend')).toEqual([404, 'RESOURCE_NOT_FOUND']);
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
    const text = await exchange(`${control.url}/media/hold`, { method: 'POST', headers, body: '{}' });
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
