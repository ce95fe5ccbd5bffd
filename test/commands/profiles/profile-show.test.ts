import { beforeEach, expect, it } from 'vitest';
import { makeFolder } from '../../support/make-folder.ts';
import { runMain } from '../../support/run-main.ts';

let folder = '';
beforeEach(async () => {
  folder = makeFolder();
});

async function run(words: string[], stdin = '') {
  const env = { HOME: folder, PATH: process.env.PATH ?? '', VLOC_CONFIG_DIR: folder, VLOC_NO_KEYCHAIN: '1' };
  return runMain(words, { env, cwd: folder, stdin });
}

async function add(name: string) {
  const words = [
    'profile',
    'add',
    name,
    '--base-url',
    `https://${name}.example.com/v1`,
    '--key',
    `key_${name}`,
  ];
  const { code } = await run([...words, '--secret-stdin', '--no-check'], 'canary');
  expect(code).toBe(0);
}

/** What `profile show` says, as `name: [value, origin]`. */
async function show(words: string[] = []) {
  const { stdout, code } = await run(['profile', 'show', ...words, '-o', 'json']);
  expect(code).toBe(0);
  const rows: { setting: string; value: string; origin: string }[] = JSON.parse(stdout).data;
  return Object.fromEntries(rows.map(({ setting, value, origin }) => [setting, [value, origin]]));
}

it('another profile can be shown by its name', async () => {
  await add('prod');
  await add('staging');
  expect((await show()).profile?.[0]).toBe('prod');
  expect((await show(['staging'])).key).toEqual(['key_staging', 'profile staging']);
  const { code, stderr } = await run(['profile', 'show', 'stagin']);
  expect([code, stderr]).toEqual([4, expect.stringContaining('Did you mean staging?')]);
});

it('profiles are listed, used and removed; a removed one is no longer in use', async () => {
  await add('prod');
  await add('staging');
  const used = async () => {
    const { stdout } = await run(['profile', 'list', '-o', 'json']);
    expect(stdout).not.toContain('canary');
    return JSON.parse(stdout).data.find((profile: { in_use: boolean }) => profile.in_use).name;
  };
  expect((await run(['profile', 'list', '-o', 'id'])).stdout).toBe('local\nprod\nstaging\n');
  expect(await used()).toBe('prod');
  expect((await run(['profile', 'use', 'staging'])).code).toBe(0);
  expect(await used()).toBe('staging');
  const removed = await run(['profile', 'remove', 'staging']);
  expect([removed.code, removed.stderr]).toEqual([0, expect.stringContaining('embedded service now')]);
  expect(await used()).toBe('local');
  expect((await run(['profile', 'use', 'staging'])).code).toBe(4);
  expect((await run(['profile', 'remove', 'staging'])).code).toBe(4);
  expect((await run(['profile', 'remove', 'local'])).code).toBe(2);
  expect((await run(['profile', 'use', 'local'])).code).toBe(0);
});
