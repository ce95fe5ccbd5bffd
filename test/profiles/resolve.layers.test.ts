import { describe, expect, it } from 'vitest';
import type { Profile, ProfileDocument } from '../../src/profiles/profile.ts';
import { resolveSettings, type SettingSources } from '../../src/profiles/resolve.ts';
import { describeOrigin } from '../../src/profiles/settings.ts';

const profile = (name: string): Profile => ({
  name,
  base_url: `https://${name}.example.com/v1`,
  key: `key_${name}`,
  header_prefix: 'X-Acme',
  secret: { type: 'file', value: `secret_${name}` },
});

const STORED: ProfileDocument = {
  version: 1,
  current: 'prod',
  profiles: [profile('prod'), profile('staging')],
};

function resolve(given: Partial<SettingSources>) {
  return resolveSettings({
    flags: {},
    env: { HOME: '/home/a' },
    platform: 'linux',
    project: null,
    profiles: { version: 1, profiles: [] },
    profilesPath: '/c/profiles.json',
    ...given,
  });
}

/** The address with the place it comes from. */
function addressOf(given: Partial<SettingSources>): [string | null, string] {
  const { baseUrl } = resolve(given);
  return [baseUrl.value, describeOrigin(baseUrl.origin)];
}

const project = (settings: object) => ({ path: '/p/vloc.config.json', settings });

describe('the address of the service', () => {
  it('comes from flag, environment, project file, profile, in this order', () => {
    const all = {
      flags: { baseUrl: 'https://flag/v1' },
      env: { VLOC_BASE_URL: 'https://env/v1' },
      project: project({ base_url: 'https://project/v1' }),
      profiles: STORED,
    };
    expect(addressOf(all)).toEqual(['https://flag/v1', 'flag --base-url']);
    expect(addressOf({ ...all, flags: {} })).toEqual(['https://env/v1', 'env VLOC_BASE_URL']);
    expect(addressOf({ ...all, flags: {}, env: {} })).toEqual([
      'https://project/v1',
      'project file /p/vloc.config.json',
    ]);
    expect(addressOf({ profiles: STORED })).toEqual(['https://prod.example.com/v1', 'profile prod']);
  });

  it('is that of a profile which a flag names, whatever the environment says', () => {
    const env = { VLOC_BASE_URL: 'https://env/v1', VLOC_KEY: 'k', VLOC_SECRET: 's' };
    const settings = resolve({ flags: { profile: 'staging' }, env, profiles: STORED });
    expect(settings.baseUrl.value).toBe('https://staging.example.com/v1');
    expect(settings.key?.value).toBe('key_staging');
    expect(settings.secret?.value).toEqual({ type: 'file', value: 'secret_staging' });
  });

  it.each([
    [{ flags: { profile: 'staging' }, env: { VLOC_PROFILE: 'prod' } }, 'staging'],
    [{ env: { VLOC_PROFILE: 'staging' }, project: project({ profile: 'prod' }) }, 'staging'],
    [{ project: project({ profile: 'staging' }) }, 'staging'],
    [{ env: { VLOC_PROFILE: '' } }, 'prod'],
  ])('comes from the profile with the highest precedence: %j', (given, name) => {
    expect(resolve({ ...given, profiles: STORED }).profile?.value).toBe(name);
  });

  it('is that of the embedded service for the profile local, wherever it is named', () => {
    const project1 = project({ base_url: 'https://project/v1' });
    expect(
      addressOf({ flags: { profile: 'local' }, env: { VLOC_BASE_URL: 'https://env/v1' } })[0],
    ).toBeNull();
    expect(addressOf({ env: { VLOC_PROFILE: 'local' }, project: project1, profiles: STORED })[0]).toBeNull();
  });

  it.each([
    { flags: { profile: 'local', baseUrl: 'https://flag/v1' } },
    { env: { VLOC_PROFILE: 'local', VLOC_BASE_URL: 'https://env/v1' } },
  ])('cannot be combined with the profile local in one place: %j', (given) => {
    expect(() => resolve(given)).toThrow('a base URL is set too');
  });
});

describe('a service that the environment describes completely', () => {
  const env = { VLOC_BASE_URL: 'https://env/v1', VLOC_KEY: 'k', VLOC_SECRET: 's' };

  it('takes nothing from the profile in use', () => {
    const settings = resolve({ env, profiles: STORED });
    expect(settings.profile).toBeNull();
    expect(settings.headerPrefix).toEqual({ value: 'X-Service', origin: { type: 'default' } });
  });
});

describe('a profile that does not exist', () => {
  it('is refused with the name that may be meant', () => {
    const act = () => resolve({ flags: { profile: 'stagin' }, profiles: STORED });
    expect(act).toThrow(
      expect.objectContaining({ facts: expect.objectContaining({ advice: 'Did you mean staging?' }) }),
    );
  });

  it('is reported with the project file that names it', () => {
    const act = () => resolve({ project: project({ profile: 'elsewhere' }), profiles: STORED });
    expect(act).toThrow('which /p/vloc.config.json requests');
  });
});
