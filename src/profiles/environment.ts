/** Environment variables that vloc reads, the folders of a user, and proxies. */

import { join } from 'node:path';
import { absolutePath, homeFolder } from '../base/home-folder.ts';
import { parseProxyAddress } from '../base/proxy-address.ts';
import type { ProxySettings } from '../client/index.ts';
import {
  assembleSettings,
  SECRETS,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingRows,
} from './settings.ts';

type SettingVariable = SettingRows[SettingName]['variable'];

/** Environment variables that vloc reads; the help topic and the documents are made from this table. */
export const ENVIRONMENT = {
  ...assembleSettings<Readonly<Record<SettingVariable, string>>>(
    SETTING_NAMES.map((name) => [SETTINGS[name].variable, SETTINGS[name].help]),
  ),
  VLOC_CONFIG_DIR: 'folder of the profiles, default `vloc` below the XDG config folder',
  VLOC_STATE_DIR: 'folder of the embedded service, default below the XDG state folder',
  VLOC_MODELS: 'folder of the models of `vloc models`, default below the XDG data folder',
  HF_ENDPOINT: 'a mirror of https://huggingface.co, from which `vloc models install` downloads',
  HF_TOKEN: 'a token for models that need one; sent only to the hub or its mirror',
  VLOC_DATABASE: '`--database` of `vloc serve`',
  VLOC_ROLE: '`--role` of `vloc serve`',
  VLOC_STORAGE:
    '`--storage` of `vloc serve`; its credentials are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  VLOC_METRICS_PORT: '`--metrics-port` of `vloc serve`',
  VLOC_METRICS_HOST: '`--metrics-host` of `vloc serve`',
  VLOC_DRAIN: '`--drain` of `vloc serve`',
  VLOC_SHUTDOWN_DELAY: '`--shutdown-delay` of `vloc serve`',
  VLOC_STAGE_CACHE_MIB:
    'maximum MiB of finished stages that the embedded service keeps for other jobs with the same input, default 4096; 0 keeps none',
  VLOC_NO_KEYCHAIN: 'any value but 0 keeps secrets in the file of the profiles, not in the system keychain',
  CI: 'any value but 0 and false: a service must be chosen; VLOC_PROFILE=local chooses the embedded one',
  VLOC_NO_UPDATE_NOTICE: 'any value turns off the check for newer versions',
  VLOC_DEBUG: '1 shows the stack of an error',
  HTTPS_PROXY:
    'proxy for remote services, http://[user:password@]host:port; this machine is always reached directly',
  HTTP_PROXY: 'proxy for addresses without TLS',
  NO_PROXY:
    'hosts reached without a proxy, separated by commas: host, .suffix, host:port, 10.0.0.0/8, or * for all',
  NODE_EXTRA_CA_CERTS:
    'file of certificates (PEM) to trust besides those of Node, such as that of a proxy that decrypts TLS',
  NO_COLOR: 'any value switches colour off',
  FORCE_COLOR: 'any value but 0 switches colour on',
} as const;

export type EnvironmentName = keyof typeof ENVIRONMENT;

/** Those that hold secrets: read once, then removed from this process and its children. HF_TOKEN stays for the user's own programs. */
const SECRET_VARIABLES: readonly EnvironmentName[] = [
  ...SECRETS.map((name) => SETTINGS[name].variable),
  'VLOC_DATABASE',
];

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Moves the secrets out of the variables of a process: crash reports and children then have none of them.
 * @returns all variables as they were
 */
export function takeEnvironment(variables: Record<string, string | undefined>): Environment {
  const taken = { ...variables };
  for (const name of SECRET_VARIABLES) delete variables[name];
  return taken;
}

/** The variables that a child process may have. */
export function withoutSecrets(env: Environment): Record<string, string | undefined> {
  const copy = { ...env };
  for (const name of SECRET_VARIABLES) delete copy[name];
  return copy;
}

/** The value of a variable; an empty one counts as not set. */
export function readVariable(env: Environment, name: EnvironmentName): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

// Folders of configuration, state and data. Source: XDG Base Directory Specification, and its counterparts on Windows.

/** A variable that names a folder, and where it is below the home folder without one. */
type UserFolder = readonly [variable: string, below: string];
type UserFolders = { readonly windows: UserFolder; readonly others: UserFolder };

const LOCAL_DATA: UserFolder = ['LOCALAPPDATA', 'AppData/Local'];
const CONFIG: UserFolders = {
  windows: ['APPDATA', 'AppData/Roaming'],
  others: ['XDG_CONFIG_HOME', '.config'],
};
const STATE: UserFolders = { windows: LOCAL_DATA, others: ['XDG_STATE_HOME', '.local/state'] };
const DATA: UserFolders = { windows: LOCAL_DATA, others: ['XDG_DATA_HOME', '.local/share'] };

/** Folder of the profiles: VLOC_CONFIG_DIR, else `vloc` below the user's configuration folder. */
export function configFolder(env: Environment, platform: NodeJS.Platform): string {
  return readVariable(env, 'VLOC_CONFIG_DIR') ?? join(folderOfUser(CONFIG, env, platform), 'vloc');
}

/** Folder of the embedded service: VLOC_STATE_DIR, else `vloc` below the user's state folder. */
export function stateFolder(env: Environment, platform: NodeJS.Platform): string {
  return readVariable(env, 'VLOC_STATE_DIR') ?? join(folderOfUser(STATE, env, platform), 'vloc');
}

/** Folder of the models: VLOC_MODELS, else `vloc/models` below the user's data folder. */
export function modelsFolder(env: Environment, platform: NodeJS.Platform): string {
  return readVariable(env, 'VLOC_MODELS') ?? join(folderOfUser(DATA, env, platform), 'vloc', 'models');
}

function folderOfUser(folders: UserFolders, env: Environment, platform: NodeJS.Platform): string {
  const [variable, below] = platform === 'win32' ? folders.windows : folders.others;
  return absolutePath(env[variable]) ?? join(homeFolder(env), below);
}

/**
 * The proxies of a run, undefined without any.
 * @throws Failure (`configuration`) for a proxy that is not an http or https address
 */
export function proxySettings(env: Environment): ProxySettings | undefined {
  const http = proxyAddress(env, 'HTTP_PROXY');
  const https = proxyAddress(env, 'HTTPS_PROXY');
  if (http === '' && https === '') return undefined;
  return { http, https, noProxy: env[spelling(env, 'NO_PROXY')] ?? '' };
}

/** The name of a variable as it is set: in lower case first, like other programs. */
function spelling(env: Environment, name: EnvironmentName): string {
  const small = name.toLowerCase();
  return env[small] === undefined || env[small] === '' ? name : small;
}

function proxyAddress(env: Environment, name: EnvironmentName): string {
  const spelled = spelling(env, name);
  const given = env[spelled] ?? '';
  return given === '' ? '' : parseProxyAddress(given, spelled);
}
