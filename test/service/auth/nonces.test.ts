import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openNonceMemory } from '../../../src/service/auth/nonces.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { send, signHeaders } from '../harness/caller.ts';
import { startScene } from '../harness/scene.ts';

const NONCE = 'a-nonce-that-is-used-again';

test('a nonce stays used when the service starts again', async () => {
  const first = await startScene();
  const signed = { method: 'GET', path: '/v1/credits', body: '', nowMs: first.clock.now(), nonce: NONCE };
  const headers = signHeaders(first.credentials, signed);
  expect((await send(`${first.service.url}/credits`, { headers })).status).toBe(200);
  await first.service.close();
  const second = await startScene({ stateDir: first.stateDir });
  const again = await send(`${second.service.url}/credits`, { headers });
  expect(again.status).toBe(401);
  expect(again.json.detail).toContain('nonce');
});

test('two processes on one state folder share their nonces', async () => {
  const one = await startScene();
  const other = await startScene({ stateDir: one.stateDir });
  const signed = { method: 'GET', path: '/v1/credits', body: '', nowMs: one.clock.now(), nonce: NONCE };
  const headers = signHeaders(one.credentials, signed);
  expect((await send(`${one.service.url}/credits`, { headers })).status).toBe(200);
  expect((await send(`${other.service.url}/credits`, { headers })).status).toBe(401);
});

test('a nonce is remembered for 601 s, for each key separately, and then forgotten', async () => {
  const memory = openNonceMemory(join(makeFolder(), 'nonces.sqlite'));
  onTestFinished(() => memory.close());
  const start = 1_700_000_000_000;
  const use = (key: string, seconds: number) => memory.remember(key, NONCE, start + seconds * 1000);
  expect(await use('one', 0)).toBe(true);
  expect(await use('other', 0)).toBe(true);
  expect(await use('one', 600.999)).toBe(false);
  expect(await use('one', 601)).toBe(true);
  expect(await memory.sweep(start + 601_000)).toBe(1);
  expect(await memory.sweep(start + 2_000_000)).toBe(1);
});
