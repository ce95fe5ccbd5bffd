import {
  assemble,
  SECRETS,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingRows,
} from './settings.ts';

type SettingVariable = SettingRows[SettingName]['variable'];

/** Environment variables that vloc reads; the help topic and the documents are made from this table. */
export const ENVIRONMENT = {
  ...assemble<Readonly<Record<SettingVariable, string>>>(
    SETTING_NAMES.map((name) => [SETTINGS[name].variable, SETTINGS[name].help]),
  ),
  VLOC_CONFIG_DIR: 'folder of the profiles, default `vloc` below the XDG config folder',
  VLOC_STATE_DIR: 'folder of the embedded service, default below the XDG state folder',
  VLOC_NO_KEYCHAIN:
    'any value but 0 keeps secrets in the file of the profiles, not in the keychain of the system',
  CI: 'any value but 0 and false: a service must be chosen; VLOC_PROFILE=local chooses the embedded one',
  VLOC_DEBUG: '1 shows the stack of an error',
  HTTPS_PROXY:
    'proxy for services elsewhere, http://[user:password@]host:port; this machine is always reached directly',
  HTTP_PROXY: 'proxy for addresses without TLS',
  NO_PROXY: 'hosts reached without a proxy, separated by commas: host, .suffix, host:port, or * for all',
  NODE_EXTRA_CA_CERTS:
    'file of certificates (PEM) to trust besides those of Node, as a proxy that opens TLS needs it',
  NO_COLOR: 'any value switches colour off',
  FORCE_COLOR: 'any value but 0 switches colour on',
} as const;

export type EnvironmentName = keyof typeof ENVIRONMENT;

/** Those that hold secrets: read once, then taken away from this process and whatever it starts. */
const SECRET_VARIABLES: readonly EnvironmentName[] = SECRETS.map((name) => SETTINGS[name].variable);

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
