import { describe, expect, it } from 'vitest';
import { resolveTarget, stateFolder } from '../../src/profiles/resolve.ts';

describe('the service of a run', () => {
  it('is the embedded one when nothing is configured', () => {
    const target = resolveTarget({ HOME: '/home/a' }, 'linux');
    expect(target).toEqual({ type: 'embedded', stateDir: '/home/a/.local/state/vloc' });
  });

  it('is the one at VLOC_BASE_URL, without a trailing slash', () => {
    const env = { VLOC_BASE_URL: 'https://api.example.com/v1/', VLOC_KEY: 'k', VLOC_SECRET: 's' };
    expect(resolveTarget(env, 'linux')).toEqual({
      type: 'remote',
      baseUrl: 'https://api.example.com/v1',
      key: 'k',
      secret: 's',
      headerPrefix: 'X-Service',
    });
  });

  it.each([{ VLOC_KEY: 'k' }, { VLOC_SECRET: 's' }, {}])(
    'needs both key and secret with an address: %j',
    (given) => {
      const env = { VLOC_BASE_URL: 'https://api.example.com/v1', ...given };
      expect(() => resolveTarget(env, 'linux')).toThrow('VLOC_KEY or VLOC_SECRET');
    },
  );
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
