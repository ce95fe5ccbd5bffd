import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EntryOf } from '../../src/engines/config.ts';
import { findObstacle } from '../../src/engines/reach.ts';
import { createPrograms } from '../../src/media/programs/programs.ts';
import type { BackendStep } from '../../src/media/work.ts';
import { makeFolder } from '../support/make-folder.ts';
import { script } from './backends/user-program.ts';
import { programs } from './workspace.ts';

const find = (
  entry: EntryOf<BackendStep> | string,
  { env = {}, signal = new AbortController().signal, searchPath = '' } = {},
) =>
  findObstacle('recognize', entry, {
    programs: searchPath === '' ? programs : createPrograms(searchPath),
    env,
    signal,
  });

async function listen(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`; // it listens on a port
}

describe('a server', () => {
  it('can be reached if it accepts connections, and receives nothing', async () => {
    const url = await listen();
    expect(await find({ type: 'openai', url, model: 'm' })).toBeNull();
    expect(await find({ type: 'libretranslate', url })).toBeNull();
  });

  it.each([
    ['http://127.0.0.1:1/v1', '127.0.0.1 port 1 refuses connections'],
    ['http://[::1]:1/v1', '::1 port 1'],
    ['http://nobody.invalid/v1', 'nobody.invalid port 80 '],
  ])('%s cannot be reached: %s', async (url, message) => {
    const obstacle = await find({ type: 'openai', url, model: 'm' });
    expect(obstacle).toMatchObject({
      message: expect.stringContaining(message),
      fix: expect.stringContaining('url'),
    });
  });

  it('that does not answer is given up on request', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    const obstacle = await find({ type: 'openai', url: await listen(), model: 'm' }, { signal });
    expect(obstacle?.message).toContain('does not answer');
  });

  it('needs its key: a variable that is set, or an existing program', async () => {
    const url = await listen();
    const withEnv = { type: 'openai', url, model: 'm', key: { env: 'ASR_KEY' } } as const;
    expect(await find(withEnv, { env: { ASR_KEY: 'canary' } })).toBeNull();
    for (const env of [{}, { ASR_KEY: '' }]) {
      expect(await find(withEnv, { env })).toMatchObject({
        message: 'the variable ASR_KEY with its key is not set',
      });
    }
    const withCommand = (program: string) => find({ ...withEnv, key: { command: [program, 'asr'] } });
    expect(await withCommand('sh')).toBeNull();
    expect((await withCommand('nonesuch'))?.message).toBe(
      'there is no program nonesuch, which prints its key',
    );
  });
});

it('a model needs its folder, also below the home folder', async () => {
  const home = makeFolder();
  mkdirSync(join(home, 'models', 'tiny'), { recursive: true });
  const env = { HOME: home };
  expect(await find({ type: 'sherpa', folder: '~/models/tiny' }, { env })).toBeNull();
  expect(await find({ type: 'sherpa', folder: join(home, 'models') }, { env })).toBeNull();
  expect((await find({ type: 'sherpa', folder: '~/models/huge' }, { env }))?.message).toBe(
    `there is no folder ${home}/models/huge`,
  );
});

it('a program is searched for by its name, or expected at its path', async () => {
  const there = script('exit 0');
  for (const run of [['sh'], [there]]) expect(await find({ type: 'command', run })).toBeNull();
  for (const run of [['nonesuch'], [`${there}-not`]]) {
    expect((await find({ type: 'command', run }))?.message).toBe(`there is no program ${run[0]}`);
  }
});

it('the built-in engine needs its programs', async () => {
  expect(await find('pocketsphinx')).toBeNull();
  expect(await find('pocketsphinx', { searchPath: '/nonesuch' })).toEqual({
    message: 'pocketsphinx is not installed',
    fix: 'Install it with `vloc engines install`.',
  });
});
