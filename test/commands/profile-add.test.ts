import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { makeFolder } from '../client/support/harness.ts';
import { problem, startServer } from '../client/support/scripted-server.ts';
import { startScene } from '../service/harness/scene.ts';
import { createTestIo } from '../support/test-io.ts';

let folder = '';
beforeEach(async () => {
  folder = await makeFolder();
});

async function run(words: string[], stdin = '', env = {}) {
  const kept = { HOME: folder, PATH: process.env.PATH ?? '', VLOC_CONFIG_DIR: folder, VLOC_NO_KEYCHAIN: '1' };
  const { io, stdout, stderr } = createTestIo({ env: { ...kept, ...env }, cwd: folder, stdin });
  const code = await main(words, io);
  return { code, stdout: stdout(), stderr: stderr() };
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

  it.each([
    ['local', 'always exists'],
    ['../x', 'cannot be the name'],
    ['a b', 'cannot be the name'],
    ['x'.repeat(65), 'cannot be the name'],
  ])('refuses the name %s', async (name, message) => {
    const words = [
      'profile',
      'add',
      name,
      '--base-url',
      SERVICE,
      '--key',
      'k',
      '--secret-stdin',
      '--no-check',
    ];
    const { code, stderr } = await run(words, 's');
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    await nothingStored();
  });

  it.each([
    ['http://api.example.com/v1', 4, 'must start with https://'],
    ['https://api.example.com', 4, 'must end in /v1'],
  ])('refuses the address %s', async (address, exit, message) => {
    const { code, stderr } = await add(address, 's', '--no-check');
    expect([code, stderr]).toEqual([exit, expect.stringContaining(message)]);
  });

  it('refuses missing or duplicate values before anything is asked or sent', async () => {
    const base = ['profile', 'add', 'prod', '--base-url', SERVICE];
    expect((await run(base)).stderr).toContain('--key is missing');
    expect((await run([...base, '--key', 'k'])).stderr).toContain(
      '--secret-stdin or --secret-command is missing',
    );
    expect((await run([...base, '--key', 'k', '--secret-stdin'], '\n')).stderr).toContain('no secret from');
    const both = await run([...base, '--key', 'k', '--secret-stdin', '--secret-command', 'x'], 's');
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('cannot be combined')]);
    expect((await add(SERVICE, 's', '--no-check', '--header-prefix', 'X Bad')).code).toBe(4);
    await nothingStored();
  });
});

describe('the check of a new key', () => {
  it.each([
    [401, 'AUTHENTICATION_FAILED', 4, 'Check the key, the secret'],
    [403, 'SOURCE_IP_NOT_ALLOWED', 4, 'allow-list of the key'],
    [403, 'API_ACCESS_NOT_INCLUDED_IN_PLAN', 4, 'enterprise plan'],
    [403, 'CAPABILITY_NOT_PERMITTED', 4, 'with that permission'],
    [402, 'INSUFFICIENT_CREDITS', 6, 'Add credits'],
    [429, 'CREDIT_QUOTA_EXCEEDED', 6, 'next calendar month'],
  ])('says what to do after %i %s, and stores nothing', async (status, errorCode, exit, advice) => {
    const server = await startServer(problem(status, errorCode, false));
    try {
      const { code, stderr } = await add(server.baseUrl, 'canary');
      expect([code, stderr]).toEqual([exit, expect.stringContaining(advice)]);
      expect(stderr).toContain('Nothing was stored; --no-check');
      expect(stderr).toContain(errorCode);
      expect(stderr).not.toContain('canary');
      await nothingStored();
    } finally {
      await server.close();
    }
  });

  it('finds a wrong secret', async () => {
    const { service, credentials } = await startScene();
    const words = ['profile', 'add', 'prod', '--base-url', service.url, '--key', credentials.key];
    const { code, stderr } = await run([...words, '--secret-stdin'], 'wrong');
    expect([code, stderr]).toEqual([4, expect.stringContaining('AUTHENTICATION_FAILED')]);
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

describe('an unusable folder of profiles', () => {
  const words = [
    'profile',
    'add',
    'prod',
    '--base-url',
    SERVICE,
    '--key',
    'vk_1',
    '--secret-stdin',
    '--no-check',
  ];

  it('is named with the variable that chooses another', async () => {
    await writeFile(join(folder, 'file'), '');
    const below = join(folder, 'file', 'config');
    const { code, stderr } = await run(words, 'canary', { VLOC_CONFIG_DIR: below });
    expect(code).toBe(10);
    expect(stderr).toContain(`cannot use the folder of profiles ${below}: a part of the path is a file`);
    expect(stderr).toContain('Choose another folder. VLOC_CONFIG_DIR names it.');
    expect(stderr).not.toContain('--out');
  });

  it.runIf(process.platform === 'linux')('may be one that cannot be created', async () => {
    const { code, stderr } = await run(words, 'canary', { VLOC_CONFIG_DIR: '/proc/vloc/config' });
    expect(code).toBe(10);
    expect(stderr).toContain(
      'cannot write the folder of profiles /proc/vloc/config: the folder does not exist',
    );
    expect(stderr).toContain('VLOC_CONFIG_DIR names it.');
    expect(stderr).not.toContain('ENOENT');
  });
});
