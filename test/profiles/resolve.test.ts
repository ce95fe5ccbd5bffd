import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSources, resolveTarget, type SettingSources } from '../../src/profiles/resolve.ts';
import { makeFolder } from '../support/make-folder.ts';

const PROD = {
  name: 'prod',
  base_url: 'https://api.example.com/v1',
  key: 'vk',
  secret: { type: 'keychain', account: 'a1' },
} as const;

function resolve(given: Partial<SettingSources>) {
  const sources: SettingSources = {
    flags: {},
    env: { HOME: '/home/a' },
    platform: 'linux',
    project: null,
    profiles: { version: 1, profiles: [PROD] },
    profilesPath: '/c/profiles.json',
    ...given,
  };
  return resolveTarget(sources, async (source) =>
    source.type === 'file' ? source.value : `from ${source.type}`,
  );
}

describe('the service of a run', () => {
  it('is the embedded one if nothing is configured', async () => {
    expect(await resolve({})).toEqual({ type: 'embedded', stateDir: '/home/a/.local/state/vloc' });
  });

  it('is the one at VLOC_BASE_URL, without a trailing slash', async () => {
    const env = { VLOC_BASE_URL: 'https://api.example.com/v1/', VLOC_KEY: 'k', VLOC_SECRET: 's' };
    expect(await resolve({ env })).toEqual({
      type: 'remote',
      baseUrl: 'https://api.example.com/v1',
      key: 'k',
      secret: 's',
      headerPrefix: 'X-Service',
      prices: {},
    });
  });

  it('is that of a profile, whose secret is read from where it is stored', async () => {
    expect(await resolve({ flags: { profile: 'prod' } })).toMatchObject({
      key: 'vk',
      secret: 'from keychain',
    });
  });

  it.each([
    [{ VLOC_KEY: 'k' }, 'VLOC_SECRET is not set'],
    [{ VLOC_SECRET: 's' }, 'VLOC_KEY is not set'],
    [{}, 'VLOC_KEY and VLOC_SECRET are not set'],
  ])('needs both key and secret with an address: %j', async (given, message) => {
    const env = { VLOC_BASE_URL: 'https://api.example.com/v1', ...given };
    await expect(resolve({ env })).rejects.toThrow(message);
  });

  it('never receives a key of the environment with the secret of a profile', async () => {
    const profiles = { version: 1, current: 'prod', profiles: [PROD] } as const;
    await expect(resolve({ env: { VLOC_KEY: 'k' }, profiles })).rejects.toThrow('VLOC_SECRET is not');
    expect(await resolve({ env: { VLOC_SECRET: 's' }, profiles })).toMatchObject({ key: 'vk', secret: 's' });
  });
});

describe('a service that is not clearly chosen', () => {
  const AT = 'https://api.example.com/v1';
  const inUse = { version: 1, current: 'prod', profiles: [PROD] } as const;
  const project = (settings: object) => ({ path: '/p/vloc.config.json', settings });

  it.each([
    {
      env: { VLOC_KEY: 'k', VLOC_SECRET: 's' },
      code: 'SERVICE_MISSING',
      says: 'VLOC_KEY and VLOC_SECRET are set',
    },
    { env: { VLOC_KEY: 'k' }, code: 'SERVICE_MISSING', says: 'VLOC_KEY is set' },
    { env: { VLOC_SECRET: 's' }, code: 'SERVICE_MISSING', says: 'VLOC_SECRET is set' },
    { env: { VLOC_BASE_URL: '' }, code: 'BASE_URL_EMPTY', says: 'VLOC_BASE_URL is empty' },
    { env: { VLOC_BASE_URL: '' }, profiles: inUse, code: 'BASE_URL_EMPTY', says: 'is empty' },
    { env: { VLOC_BASE_URL: '', VLOC_PROFILE: 'prod' }, code: 'BASE_URL_EMPTY', says: 'is empty' },
    { env: { VLOC_BASE_URL: '', CI: 'true' }, code: 'BASE_URL_EMPTY', says: 'is empty' },
    { env: { CI: 'true' }, code: 'SERVICE_NOT_CHOSEN', says: 'CI is set' },
    { env: { CI: '1' }, project: project({ defaults: {} }), code: 'SERVICE_NOT_CHOSEN', says: 'CI is set' },
  ])('$env is refused with what to set', async ({ code, says, ...given }) => {
    await expect(resolve({ ...given, env: { ...given.env, HOME: '/home/a' } })).rejects.toMatchObject({
      message: expect.stringContaining(says),
      facts: { category: 'configuration', code, advice: expect.stringContaining('VLOC_PROFILE') },
    });
  });

  it.each<Partial<SettingSources>>([
    { env: { CI: 'true', VLOC_PROFILE: 'local' } },
    { env: { CI: 'true' }, flags: { profile: 'local' } },
    { env: { CI: 'true' }, project: project({ profile: 'local' }) },
    { env: { VLOC_KEY: 'k', VLOC_SECRET: 's' }, flags: { profile: 'local' } },
    { env: { VLOC_BASE_URL: '' }, flags: { profile: 'local' } },
    { env: { VLOC_BASE_URL: '', VLOC_PROFILE: 'local' } },
    { env: { CI: 'false' } },
    { env: { CI: '0' } },
    { env: { CI: '' } },
  ])('the embedded service is used by name, and outside of CI by default: %j', async (given) => {
    expect(await resolve(given)).toMatchObject({ type: 'embedded' });
  });

  it.each<Partial<SettingSources>>([
    { env: { CI: 'true', VLOC_BASE_URL: AT, VLOC_KEY: 'k', VLOC_SECRET: 's' } },
    { env: { CI: 'true' }, profiles: inUse },
    { env: { CI: 'true', VLOC_PROFILE: 'prod' } },
    { env: { CI: 'true', VLOC_KEY: 'k', VLOC_SECRET: 's' }, project: project({ base_url: AT }) },
    { env: { VLOC_BASE_URL: '', VLOC_KEY: 'k', VLOC_SECRET: 's' }, flags: { baseUrl: AT } },
    { env: { VLOC_BASE_URL: '' }, flags: { profile: 'prod' } },
  ])('a service elsewhere is used if something names it: %j', async (given) => {
    expect(await resolve(given)).toMatchObject({ type: 'remote', baseUrl: AT });
  });
});

describe('a project file', () => {
  const lead = (base_url: string, given: Partial<SettingSources> = {}) =>
    resolve({
      project: { path: '/p/vloc.config.json', settings: { base_url } },
      profiles: { version: 1, current: 'prod', profiles: [PROD] },
      ...given,
    });

  it('does not send the key of a profile to another service', async () => {
    await expect(lead('https://evil.example.net/v1')).rejects.toThrow('not for https://evil.example.net/v1');
    await expect(lead('http://api.example.com/v1')).rejects.toThrow('not for http://api.example.com/v1');
  });

  it('may name the same service, and any with the credentials of the environment', async () => {
    expect(await lead('https://api.example.com/v1')).toMatchObject({ key: 'vk' });
    const env = { VLOC_KEY: 'k', VLOC_SECRET: 's' };
    expect(await lead('https://other.example.net/v1', { env })).toMatchObject({ key: 'k', secret: 's' });
  });
});

it('a build server with everything in the environment does not depend on the profiles file', async () => {
  const folder = makeFolder();
  await writeFile(join(folder, 'profiles.json'), 'not JSON');
  const env = {
    VLOC_CONFIG_DIR: folder,
    VLOC_BASE_URL: 'https://a.example/v1',
    VLOC_KEY: 'k',
    VLOC_SECRET: 's',
  };
  const around = { flags: {}, platform: 'linux', cwd: folder, warn: () => {} } as const;
  expect((await readSources({ ...around, env })).profiles.profiles).toEqual([]);
  await expect(readSources({ ...around, env: { ...env, VLOC_SECRET: '' } })).rejects.toThrow('damaged');
});
