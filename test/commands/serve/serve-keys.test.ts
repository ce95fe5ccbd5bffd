import { beforeEach, expect, test } from 'vitest';
import type { IssuedKey } from '../../../src/service/index.ts';
import { createCaller, type Reply } from '../../service/harness/caller.ts';
import { startScene } from '../../service/harness/scene.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { runMain } from '../../support/run-main.ts';

let stateDir = '';
beforeEach(async () => {
  stateDir = makeFolder();
});

async function run(...words: string[]) {
  return runMain(['serve', 'keys', ...words, '--state-dir', stateDir]);
}

async function create(...words: string[]): Promise<IssuedKey> {
  const { code, stdout } = await run('create', '--output', 'json', ...words);
  expect(code).toBe(0);
  const { key, secret, webhook_secret: webhookSecret } = JSON.parse(stdout);
  return { key, secret, webhookSecret };
}

/** A running service on the folder, in which a key is used as its holder would. */
async function useKey(
  credentials: IssuedKey,
  call: (caller: ReturnType<typeof createCaller>) => Promise<Reply>,
) {
  const { service } = await startScene({ stateDir });
  return call(createCaller(service.url, credentials, Date.now));
}

test('a key that was created before the first start works, and the account has its credits', async () => {
  const reply = await useKey(await create(), (caller) => caller.get('/v1/credits'));
  expect([reply.status, reply.json.balance_credits]).toEqual([200, 100_000]);
});

test('behind a trusted proxy the list is compared with the address that the proxy names', async () => {
  const { service } = await startScene({ stateDir, trustedProxies: ['127.0.0.1'] });
  const caller = createCaller(service.url, await create('--allow', '192.0.2.7'), Date.now);
  expect((await caller.get('/v1/credits', { 'X-Forwarded-For': '192.0.2.7' })).status).toBe(200);
  const invented = await caller.get('/v1/credits', { 'X-Forwarded-For': '192.0.2.7, 203.0.113.9' });
  expect(invented.json.code).toBe('SOURCE_IP_NOT_ALLOWED');
  expect((await caller.get('/v1/credits')).json.code).toBe('SOURCE_IP_NOT_ALLOWED');
});

test('a running service refuses a revoked key at its next request', async () => {
  const { service } = await startScene({ stateDir });
  const issued = await create();
  const caller = createCaller(service.url, issued, Date.now);
  expect((await caller.get('/v1/credits')).status).toBe(200);
  expect((await run('revoke', issued.key)).code).toBe(0);
  const refused = await caller.get('/v1/credits');
  expect([refused.status, refused.json.code]).toEqual([401, 'AUTHENTICATION_FAILED']);
});

test('the list shows the permissions of keys and never a secret', async () => {
  const first = await create('--permission', 'dubbing', '--monthly-quota', '2.5', '--allow', '192.0.2.7');
  const second = await create();
  await run('revoke', second.key);
  const { stdout } = await run('list', '--output', 'json');
  expect(JSON.parse(stdout)).toMatchObject([
    {
      key: first.key,
      permissions: ['dubbing'],
      monthly_quota_credits: 2.5,
      allowed_addresses: ['192.0.2.7'],
      revoked_at: null,
    },
    { key: second.key, monthly_quota_credits: null, allowed_addresses: [], revoked_at: expect.any(String) },
  ]);
  for (const mode of ['table', 'json', 'ndjson', 'plain', 'id']) {
    const listed = await run('list', '--output', mode);
    expect(listed.stdout).toContain(first.key);
    for (const secret of [first.secret, first.webhookSecret, second.secret]) {
      expect(listed.stdout + listed.stderr).not.toContain(secret);
    }
  }
  expect((await run('list', '--output', 'id')).stdout).toBe(`${first.key}\n`);
});

test('a key whose secret could not be shown is not stored', async () => {
  const unfit = await run('create', '--jq', '.key.nothing');
  expect([unfit.code, unfit.stderr]).toEqual([2, expect.stringContaining('The key was not stored')]);
  expect((await run('list', '--output', 'ndjson')).stdout).toBe('{"type":"summary","keys":0}\n');
});
