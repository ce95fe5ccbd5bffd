import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  ENVIRONMENT,
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
