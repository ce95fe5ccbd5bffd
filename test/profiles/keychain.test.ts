import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createKeychain, KeychainUnavailable } from '../../src/profiles/keychain.ts';
import { createSecretKeeper } from '../../src/profiles/secrets.ts';
import { makeFolder } from '../support/make-folder.ts';

/** A session bus that takes connections and never says a word. */
async function startHungBus() {
  const path = join(makeFolder(), 'bus');
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(async () => void server.close());
  return {
    env: { ...NO_BUS, DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` },
    connections: () => connections,
  };
}

/** Longer than any test may take. */
const HOUR_MS = 3_600_000;

const NO_BUS = { PATH: process.env.PATH, HOME: process.env.HOME };

const NO_KEYCHAIN =
  'No keychain can be used (no Secret Service answers in this session); the secret goes to the file of the profiles.';

function createKeeper(env: Record<string, string | undefined>, limitMs?: number) {
  const notes: string[] = [];
  const limit = limitMs === undefined ? {} : { limitMs };
  return {
    notes,
    keeper: createSecretKeeper({ env, isAttended: () => false, note: (text) => notes.push(text), ...limit }),
  };
}

describe.runIf(process.platform === 'linux')('without a keychain', () => {
  it('a secret is stored in the file, with a notice, without waiting for anything', async () => {
    const { keeper, notes } = createKeeper(NO_BUS, HOUR_MS);
    expect(await keeper.store('canary', undefined)).toEqual({ type: 'file', value: 'canary' });
    expect(notes).toEqual([NO_KEYCHAIN]);
    expect(notes.join()).not.toContain('canary');
  });

  it('a session that ended is reported in the same words, with what to do', async () => {
    const { keeper, notes } = createKeeper(
      { ...NO_BUS, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' },
      HOUR_MS,
    );
    await keeper.store('canary', undefined);
    expect(notes).toEqual([NO_KEYCHAIN]);
    await expect(keeper.fetch({ type: 'keychain', account: 'a' })).rejects.toMatchObject({
      message:
        'the secret is in the keychain, which cannot be read: no Secret Service answers in this session',
      facts: { category: 'configuration', advice: expect.stringContaining('VLOC_SECRET') },
    });
  });

  it('nothing is stored if the keychain was requested explicitly', async () => {
    const { keeper } = createKeeper(NO_BUS);
    await expect(keeper.store('canary', 'keychain')).rejects.toMatchObject({
      facts: { code: 'KEYCHAIN_UNAVAILABLE', advice: expect.stringContaining('--store file') },
    });
  });
});

describe.runIf(process.platform === 'linux')('a keychain that hangs', () => {
  it('is given up in time', async () => {
    const bus = await startHungBus();
    const error = await createKeychain(bus.env, 200)
      .read('a')
      .catch((reason) => reason);
    expect(error).toBeInstanceOf(KeychainUnavailable);
    expect(error.message).toBe('it did not answer in 0.2 s');
  });
});

describe('a user who does not want a keychain', () => {
  it.each([
    [{ VLOC_NO_KEYCHAIN: '1' }, undefined],
    [{}, 'file'],
  ] as const)('does not get one: %j, --store %s', async (env, chosen) => {
    const bus = await startHungBus();
    const { keeper, notes } = createKeeper({ ...bus.env, ...env });
    expect(await keeper.store('canary', chosen)).toEqual({ type: 'file', value: 'canary' });
    expect([notes, bus.connections()]).toEqual([[], 0]);
  });
});
