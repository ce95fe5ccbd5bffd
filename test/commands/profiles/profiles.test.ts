/** Every setting that a profile may have is stored, listed and shown. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { flagOf, PROFILE_SECRETS, PROFILE_TEXTS, SETTINGS } from '../../../src/profiles/settings.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { runMain } from '../../support/run-main.ts';

/** Those that are checked. */
const TEXTS: Readonly<Record<string, string>> = { baseUrl: 'https://api.example.com/v1', price: 'dubbing=1' };
const textOf = (name: (typeof PROFILE_TEXTS)[number]) => TEXTS[name] ?? `X-${name}`;

let folder = '';
async function run(words: string[], stdin = '') {
  const env = { HOME: folder, VLOC_CONFIG_DIR: folder, VLOC_NO_KEYCHAIN: '1' };
  const { code, stdout, stderr } = await runMain(words, { env, cwd: folder, stdin });
  expect([code, stdout + stderr]).toEqual([0, expect.not.stringContaining('canary')]);
  return stdout;
}

beforeEach(async () => {
  folder = makeFolder();
  const texts = PROFILE_TEXTS.flatMap((name) => [flagOf(name), textOf(name)]);
  const secrets = PROFILE_SECRETS.map((name) => `${flagOf(name)}-stdin`);
  const lines = PROFILE_SECRETS.map((name) => `canary ${name}`);
  await run(['profile', 'add', 'all', '--no-check', ...texts, ...secrets], lines.join('\n'));
});

it('each setting is stored under its field', async () => {
  const { profiles } = JSON.parse(await readFile(join(folder, 'profiles.json'), 'utf8'));
  expect(profiles).toEqual([
    {
      name: 'all',
      ...Object.fromEntries(PROFILE_TEXTS.map((name) => [SETTINGS[name].field, textOf(name)])),
      ...Object.fromEntries(
        PROFILE_SECRETS.map((name) => [SETTINGS[name].field, { type: 'file', value: `canary ${name}` }]),
      ),
    },
  ]);
});

it('each text is listed, and the origin of each secret', async () => {
  const { data } = JSON.parse(await run(['profile', 'list', '-o', 'json']));
  expect(data).toEqual([
    expect.objectContaining({ name: 'local', in_use: false, base_url: null, secret_in: null }),
    {
      name: 'all',
      in_use: true,
      ...Object.fromEntries(PROFILE_TEXTS.map((name) => [SETTINGS[name].field, textOf(name)])),
      ...Object.fromEntries(PROFILE_SECRETS.map((name) => [`${SETTINGS[name].field}_in`, 'file'])),
    },
  ]);
  const fields = Object.keys(data[1]);
  expect(await run(['profile', 'list', '-o', 'plain', '--fields', fields.join(',')])).toContain('X-key');
});

it('each setting is shown with the profile that it comes from, secrets masked', async () => {
  const { data } = JSON.parse(await run(['profile', 'show', '-o', 'json']));
  const origin = 'profile all';
  expect(data).toEqual(
    expect.arrayContaining([
      ...PROFILE_TEXTS.map((name) => ({ setting: SETTINGS[name].field, value: textOf(name), origin })),
      ...PROFILE_SECRETS.map((name) => ({ setting: SETTINGS[name].field, value: '******', origin })),
    ]),
  );
});
