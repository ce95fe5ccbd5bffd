import { execFile } from 'node:child_process';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  configFolder,
  ENVIRONMENT,
  modelsFolder,
  readVariable,
  stateFolder,
  takeEnvironment,
  withoutSecrets,
} from '../../src/profiles/environment.ts';

it('secrets are returned once and removed from the process, everything else is kept', () => {
  const variables: Record<string, string> = {
    VLOC_SECRET: 'a',
    VLOC_WEBHOOK_SECRET: 'b',
    VLOC_KEY: 'k',
    PATH: '/bin',
  };
  expect(takeEnvironment(variables)).toEqual({
    VLOC_SECRET: 'a',
    VLOC_WEBHOOK_SECRET: 'b',
    VLOC_KEY: 'k',
    PATH: '/bin',
  });
  expect(variables).toEqual({ VLOC_KEY: 'k', PATH: '/bin' });
  expect(withoutSecrets({ VLOC_SECRET: 'a', PATH: '/bin' })).toEqual({ PATH: '/bin' });
});

it('the command line has removed them before a command runs', async () => {
  const start = new URL('../../src/cli/start.ts', import.meta.url).href;
  const script = `
    const { start } = await import(${JSON.stringify(start)});
    await start({ ...process, argv: ['node', 'vloc', 'help', 'environment'], env: process.env, stdout: process.stdout,
      stderr: process.stderr, stdin: process.stdin, cwd: () => '/', on() {}, off() {}, listeners: () => [],
      removeAllListeners() {} });
    process.stderr.write('left: ' + Object.keys(process.env).filter((name) => /SECRET/.test(name)));`;
  const env = { PATH: process.env.PATH, VLOC_SECRET: 'canary', VLOC_WEBHOOK_SECRET: 'canary' };
  const args = ['--input-type=module', '--eval', script];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env });
  expect(stderr).toBe('left: ');
  for (const name of Object.keys(ENVIRONMENT)) expect(stdout).toContain(name);
});

it('an empty variable counts as not set', () => {
  expect(readVariable({ VLOC_KEY: '' }, 'VLOC_KEY')).toBeUndefined();
});

describe('the state folder', () => {
  it.each([
    [{ VLOC_STATE_DIR: '/s', XDG_STATE_HOME: '/x', HOME: '/h' }, '/s'],
    [{ XDG_STATE_HOME: '/x', HOME: '/h' }, '/x/vloc'],
    [{ XDG_STATE_HOME: 'relative', HOME: '/h' }, '/h/.local/state/vloc'],
  ])('of %j is %s', (env, folder) => {
    expect(stateFolder(env, 'linux')).toBe(folder);
  });
});

/** The folders of a user and the variables that choose them, with where they are without any. */
const FOLDERS = [
  ['linux', configFolder, 'XDG_CONFIG_HOME', '.config/vloc'],
  ['linux', stateFolder, 'XDG_STATE_HOME', '.local/state/vloc'],
  ['linux', modelsFolder, 'XDG_DATA_HOME', '.local/share/vloc/models'],
  ['win32', configFolder, 'APPDATA', 'AppData/Roaming/vloc'],
  ['win32', stateFolder, 'LOCALAPPDATA', 'AppData/Local/vloc'],
  ['win32', modelsFolder, 'LOCALAPPDATA', 'AppData/Local/vloc/models'],
] as const;

describe.each(FOLDERS)('a folder of a user on %s, %o by %s', (platform, folder, variable, below) => {
  it.each(['', '~/x'])('is in the home folder for "%s", never in the current one', (value) => {
    expect(folder({ HOME: '/h', [variable]: value }, platform)).toBe(join('/h', below));
    expect(folder({ HOME: value, [variable]: value }, platform)).toBe(join(homedir(), below));
  });
});

describe('the home folder of a process', () => {
  const printFolder = `
    const { configFolder } = await import(${JSON.stringify(new URL('../../src/profiles/environment.ts', import.meta.url).href)});
    try { process.stdout.write(configFolder(process.env, 'linux')); } catch ({ code }) { process.stdout.write(code); }`;
  const run = async (options: { env: Record<string, string>; uid?: number }) => {
    const args = ['--input-type=module', '--eval', printFolder];
    return (await promisify(execFile)(process.execPath, args, options)).stdout;
  };

  it('is that of the system with a HOME that is no path', async () => {
    expect(await run({ env: { HOME: 'relative' } })).toBe(join(userInfo().homedir, '.config/vloc'));
  });

  it.skipIf(process.getuid?.() !== 0)('must be named for a user whom the system does not know', async () => {
    const uid = 54_321;
    expect(await run({ env: { HOME: '/h' }, uid })).toBe('/h/.config/vloc');
    expect(await run({ env: { HOME: '' }, uid })).toBe('HOME_UNKNOWN');
  });
});
