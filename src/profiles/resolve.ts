/** Which service a run talks to, and with whose key. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../client/failure.ts';
import { DEFAULT_HEADER_PREFIX } from '../protocol/headers.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The service that a run uses: one elsewhere, or the one inside this program. */
export type Target =
  | {
      readonly type: 'remote';
      readonly baseUrl: string;
      readonly key: string;
      readonly secret: string;
      readonly headerPrefix: string;
    }
  | { readonly type: 'embedded'; readonly stateDir: string };

/**
 * Decides by the environment; with no VLOC_BASE_URL it is the embedded service.
 * @throws Failure of category configuration when an address stands without its key or secret
 */
export function resolveTarget(env: Environment, platform: NodeJS.Platform): Target {
  const baseUrl = env.VLOC_BASE_URL;
  if (baseUrl === undefined || baseUrl === '')
    return { type: 'embedded', stateDir: stateFolder(env, platform) };
  const { VLOC_KEY: key, VLOC_SECRET: secret } = env;
  if (key === undefined || key === '' || secret === undefined || secret === '') {
    throw new Failure({
      category: 'configuration',
      code: 'CREDENTIALS_MISSING',
      message: 'VLOC_BASE_URL is set, but VLOC_KEY or VLOC_SECRET is not',
      advice: 'Set both, or unset VLOC_BASE_URL to use the embedded service.',
    });
  }
  return {
    type: 'remote',
    baseUrl: baseUrl.replace(/\/+$/, ''),
    key,
    secret,
    headerPrefix: env.VLOC_HEADER_PREFIX ?? DEFAULT_HEADER_PREFIX,
  };
}

/** Folder of the embedded service: VLOC_STATE_DIR, else `vloc` below the user's state folder. */
export function stateFolder(env: Environment, platform: NodeJS.Platform): string {
  if (env.VLOC_STATE_DIR !== undefined && env.VLOC_STATE_DIR !== '') return env.VLOC_STATE_DIR;
  const home = env.HOME ?? homedir();
  // XDG asks for absolute paths only: a relative one would mean another folder in each working directory.
  const state = env.XDG_STATE_HOME?.startsWith('/') === true ? env.XDG_STATE_HOME : null;
  if (platform === 'win32') return join(env.LOCALAPPDATA ?? join(home, 'AppData', 'Local'), 'vloc');
  return join(state ?? join(home, '.local', 'state'), 'vloc');
}
