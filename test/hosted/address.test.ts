/** A key is sent only to the address that it was saved for. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rememberingPath } from '../support/remembered-programs.ts';
import { type HostedScene, openHosted } from './run-hosted.ts';
import { VARIANTS } from './variants.ts';

interface Scene {
  readonly own: HostedScene;
  readonly other: HostedScene;
}

/** Two services, and a profile for the first one with the secret from a command that leaves a trace. */
async function openTwo(): Promise<Scene> {
  const [own, other] = [await openHosted(VARIANTS.minimal, new Set()), await openHosted([], new Set())];
  const { key, secret } = own.hosted.account;
  const command = `touch ${join(own.folder, 'asked')}; printf ${secret}`;
  const profile = {
    name: 'prod',
    base_url: own.hosted.baseUrl,
    key,
    secret: { type: 'command', command },
  };
  const config = join(own.folder, 'config');
  await mkdir(config);
  await writeFile(
    join(config, 'profiles.json'),
    JSON.stringify({ version: 1, current: 'prod', profiles: [profile] }),
    { mode: 0o600 },
  );
  return { own, other };
}

type Case = (scene: Scene, elsewhere: string) => Promise<Given> | Given;
interface Given {
  readonly words?: readonly string[];
  readonly env?: Record<string, string>;
}

async function writeProject({ own }: Scene, settings: object): Promise<void> {
  await writeFile(join(own.folder, 'vloc.config.json'), JSON.stringify(settings));
}

const REFUSED: Readonly<Record<string, Case>> = {
  'VLOC_BASE_URL alone': (_, at) => ({ env: { VLOC_BASE_URL: at } }),
  'VLOC_BASE_URL with a secret and no key': (_, at) => ({ env: { VLOC_BASE_URL: at, VLOC_SECRET: 's' } }),
  '--base-url alone': (_, at) => ({ words: ['--base-url', at] }),
  '--base-url beside the profile': (_, at) => ({ words: ['--profile', 'prod', '--base-url', at] }),
  'a project file': async (scene, at) => {
    await writeProject(scene, { base_url: at });
    return {};
  },
  'a project file that names the profile too': async (scene, at) => {
    await writeProject(scene, { base_url: at, profile: 'prod' });
    return {};
  },
};

/** All commands read the settings in one way. */
const COMMANDS = [['credits'], ['api', '/credits'], ['doctor'], ['dub', 'talk.srt', '--to', 'es']];

test.each(Object.entries(REFUSED))('the key of a profile is not sent elsewhere by %s', async (name, give) => {
  const commands = name === 'VLOC_BASE_URL alone' ? COMMANDS : COMMANDS.slice(0, 1);
  const scene = await openTwo();
  const { own, other } = scene;
  for (const elsewhere of [other.hosted.baseUrl, own.hosted.baseUrl.replace('/v1', '/tenant/v1')]) {
    const { words = [], env = {} } = await give(scene, elsewhere);
    const all = { VLOC_CONFIG_DIR: join(own.folder, 'config'), PATH: rememberingPath(), ...env };
    for (const command of commands) {
      const { code, stdout, stderr } = await own.run([...command, ...words], { env: all });
      expect([command, code]).toEqual([command, 4]);
      expect(stdout + stderr).toContain(`the key of the profile prod is for ${own.hosted.baseUrl}, not for`);
      expect(stdout + stderr).toContain(`vloc profile add NAME --base-url ${elsewhere}`);
    }
    const signed = [...own.hosted.requests, ...other.hosted.requests].filter(({ headers }) =>
      Object.keys(headers).some((name) => name.endsWith('-key') || name.endsWith('-signature')),
    );
    expect(signed).toEqual([]);
    await expect(readFile(join(own.folder, 'asked'))).rejects.toThrow('ENOENT');
  }
});

test.each([
  ['the profile alone', () => ({})],
  [
    'VLOC_BASE_URL with the same address in other words',
    (at: string) => ({ VLOC_BASE_URL: `${at.toUpperCase().replace('/V1', '/v1')}//` }),
  ],
])('the key of a profile is sent to its own address by %s', async (_, give) => {
  const { own } = await openTwo();
  const env = {
    VLOC_CONFIG_DIR: join(own.folder, 'config'),
    PATH: process.env.PATH ?? '',
    ...give(own.hosted.baseUrl),
  };
  expect((await own.run(['credits'], { env })).code).toBe(0);
});

test('a key of the environment is used at the address of the profile', async () => {
  const { own } = await openTwo();
  const { key, secret } = own.hosted.issueKey();
  const env = { VLOC_CONFIG_DIR: join(own.folder, 'config'), VLOC_KEY: key, VLOC_SECRET: secret };
  const { code } = await own.run(['credits'], { env });
  expect(code).toBe(0);
  expect(own.hosted.requests.map(({ headers }) => headers['x-service-key'])).toEqual([key]);
});

test.each([
  ['vloc api', (at: string) => ['api', `${at}/credits`]],
  ['the detail_url of a job', (at: string) => ['jobs', 'get', `${at}/dubbings/Q-1`]],
])('%s with an address elsewhere is refused before anything is sent', async (_, words) => {
  const { own, other } = await openTwo();
  const env = { VLOC_CONFIG_DIR: join(own.folder, 'config'), PATH: process.env.PATH ?? '' };
  for (const at of [other.hosted.baseUrl, own.hosted.baseUrl.replace('/v1', '/tenant/v1')]) {
    expect((await own.run(words(at), { env })).code).toBe(2);
  }
  expect([...own.hosted.requests, ...other.hosted.requests]).toEqual([]);
});
