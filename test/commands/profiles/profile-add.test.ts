import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { usualPrefixes } from '../../../src/profiles/header-prefixes.ts';
import { json, problem, startServer } from '../../client/support/scripted-server.ts';
import { startScene } from '../../service/harness/scene.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { runMain } from '../../support/run-main.ts';

let folder = '';
beforeEach(async () => {
  folder = makeFolder();
});

async function run(words: string[], stdin = '', env = {}) {
  const kept = { HOME: folder, PATH: process.env.PATH ?? '', VLOC_CONFIG_DIR: folder, VLOC_NO_KEYCHAIN: '1' };
  return runMain(words, { env: { ...kept, ...env }, cwd: folder, stdin });
}

const add = (baseUrl: string, secret: string, ...words: string[]) =>
  run(
    ['profile', 'add', 'prod', '--base-url', baseUrl, '--key', 'vk_1', '--secret-stdin', ...words],
    `${secret}\n`,
  );

const stored = async () => JSON.parse(await readFile(join(folder, 'profiles.json'), 'utf8')).profiles;
const nothingStored = () => expect(stored()).rejects.toThrow('ENOENT');

const SERVICE = 'https://api.example.com/v1';

describe('vloc profile add', () => {
  it('stores a key that works, and later runs use it', async () => {
    const { service, credentials } = await startScene();
    const words = ['profile', 'add', 'prod', '--base-url', `${service.url}`, '--key', credentials.key];
    const added = await run([...words, '--secret-stdin', '-o', 'json'], `${credentials.secret}\r\n`);
    expect(added.code).toBe(0);
    expect(JSON.parse(added.stdout)).toMatchObject({ name: 'prod', in_use: true, secret_in: 'file' });
    expect(added.stderr).toContain('The key works');
    expect(added.stdout + added.stderr).not.toContain(credentials.secret);
    const credits = await run(['credits', '-o', 'id']);
    expect([credits.code, credits.stdout]).toEqual([0, '100000\n']);
    expect((await run(['credits', '--profile', 'prod', '-o', 'id'])).stdout).toBe('100000\n');
  });

  it('with a command stores the command, and runs it each time', async () => {
    const { service, credentials } = await startScene();
    const command = `printf ${credentials.secret}`;
    const words = ['profile', 'add', 'prod', '--base-url', service.url, '--key', credentials.key];
    expect((await run([...words, '--secret-command', command])).code).toBe(0);
    expect(await stored()).toMatchObject([{ secret: { type: 'command', command } }]);
    expect((await run(['credits', '-o', 'id'])).stdout).toBe('100000\n');
  });

  it('reads both secrets from stdin, one per line', async () => {
    const words = ['--webhook-secret-stdin', '--no-check', '--header-prefix', 'X-Acme'];
    expect((await add(SERVICE, 'one\ntwo', ...words)).code).toBe(0);
    expect(await stored()).toMatchObject([
      {
        header_prefix: 'X-Acme',
        secret: { type: 'file', value: 'one' },
        webhook_secret: { type: 'file', value: 'two' },
      },
    ]);
  });

  it('replaces a profile only on request', async () => {
    expect((await add(SERVICE, 'first', '--no-check')).code).toBe(0);
    const again = await add(SERVICE, 'second', '--no-check');
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('--replace')]);
    expect(await stored()).toMatchObject([{ secret: { value: 'first' } }]);
    expect((await add(SERVICE, 'third', '--no-check', '--replace')).code).toBe(0);
    expect(await stored()).toMatchObject([{ secret: { value: 'third' } }]);
  });
});

describe('the check of a new key', () => {
  it.each([
    [403, 'SOURCE_IP_NOT_ALLOWED', 4, 'allow-list of the key'],
    [402, 'INSUFFICIENT_CREDITS', 6, 'Add credits'],
  ])('says what to do after %i %s, and stores nothing', async (status, errorCode, exit, advice) => {
    const server = await startServer(problem(status, errorCode, false));
    onTestFinished(server.close);
    const { code, stderr } = await add(server.baseUrl, 'canary');
    expect([code, stderr]).toEqual([exit, expect.stringContaining(advice)]);
    expect(stderr).toContain('Nothing was stored; --no-check');
    expect(stderr).toContain(errorCode);
    expect(stderr).not.toContain('canary');
    await nothingStored();
  });

  it('works with a wrong clock, and reports the difference', async () => {
    const { service, credentials, clock } = await startScene();
    clock.advance(600_000);
    const words = ['profile', 'add', 'prod', '--base-url', service.url, '--key', credentials.key];
    const { code, stderr } = await run([...words, '--secret-stdin'], credentials.secret);
    expect(code).toBe(0);
    expect(stderr).toMatch(/clock of this machine is (599|600|601) s behind.*Set it right/);
  });
});

describe('the header prefix', () => {
  /** Answers as a service that looks for its key in the header of this prefix only. */
  async function startPrefixed(
    prefix: string | null,
    refusal = problem(401, 'AUTHENTICATION_FAILED', false),
  ) {
    const credits = { balance_credits: 9, reserved_credits: 0, available_credits: 9 };
    const server = await startServer((seen, response, request) => {
      const isKnown = prefix !== null && `${prefix.toLowerCase()}-key` in seen.headers;
      (isKnown ? json(200, credits) : refusal)(seen, response, request);
    });
    onTestFinished(server.close);
    const tried = () =>
      server.seen.map(({ target, headers }) => [
        target,
        Object.keys(headers).find((name) => name.startsWith('x-') && name.endsWith('-signature')),
      ]);
    return { server, tried };
  }

  it.each([
    ['401', problem(401, 'AUTHENTICATION_FAILED', false)],
    ['401 of a gateway', json(401, { message: 'Unauthorized' })],
    [
      '400 that names another header',
      json(400, {
        code: 'INVALID_REQUEST',
        detail: 'no key',
        errors: [{ pointer: 'x-api-key', detail: 'missing' }],
      }),
    ],
  ])('is found after a %s, stored and used', async (_, refusal) => {
    const { server, tried } = await startPrefixed('X-Api', refusal);
    const { code, stderr } = await add(server.baseUrl, 's');
    expect([code, stderr]).toEqual([0, expect.stringContaining('with the header prefix X-Api; 9 credits')]);
    expect(await stored()).toMatchObject([{ header_prefix: 'X-Api' }]);
    expect(tried()).toEqual([
      ['/v1/credits', 'x-service-signature'],
      ['/v1/credits', 'x-api-signature'],
    ]);
    expect((await run(['credits', '-o', 'id'])).code).toBe(0);
  });

  it('is not searched for if it is given', async () => {
    const { server, tried } = await startPrefixed('X-Api');
    const { code, stderr } = await add(server.baseUrl, 's', '--header-prefix', 'X-Acme');
    expect([code, tried()]).toEqual([4, [['/v1/credits', 'x-acme-signature']]]);
    expect(stderr).toContain('another header prefix (tried: X-Acme): give it with --header-prefix');
    await nothingStored();
  });

  it('is named with all that were tried if none works', async () => {
    const { server, tried } = await startPrefixed(null);
    const { code, stderr } = await add(server.baseUrl, 's');
    expect([code, tried().length]).toEqual([4, 2]);
    expect(stderr).toContain('(tried: X-Service, X-Api)');
    await nothingStored();
  });

  it('is named by every command after a refusal of the key, and by doctor', async () => {
    const { server } = await startPrefixed('X-Api');
    const env = {
      VLOC_BASE_URL: server.baseUrl,
      VLOC_KEY: 'k',
      VLOC_SECRET: 's',
      VLOC_HEADER_PREFIX: 'X-Acme',
    };
    for (const words of [['credits'], ['doctor'], ['jobs', 'list']]) {
      const { code, stdout, stderr } = await run(words, '', env);
      expect([words, code]).toEqual([words, 4]);
      // A table breaks lines.
      expect((stdout + stderr).replace(/\s+/g, ' ')).toContain(
        'another header prefix than X-Acme: set VLOC_HEADER_PREFIX',
      );
    }
  });
});

it('the usual header prefixes are named after the host', () => {
  expect(usualPrefixes('https://api.acme.com/v1')).toEqual(['X-Service', 'X-Acme', 'X-Api']);
  expect(usualPrefixes('https://video.acme-labs.co.uk/v1')).toEqual([
    'X-Service',
    'X-Acme-labs',
    'X-Video',
    'X-Api',
  ]);
  expect(usualPrefixes('https://a.xn--80ak6aa92e.com/v1')).toEqual(['X-Service', 'X-A', 'X-Api']);
  for (const host of ['127.0.0.1:7', '[::1]', 'localhost']) {
    expect(usualPrefixes(`http://${host}/v1`)).toEqual(['X-Service', 'X-Api']);
  }
});
