/** What `vloc serve` was given: its options, and the settings that they, the variables and the file of settings add up to. */
import { resolve } from 'node:path';
import { type OptionValues, usageFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { type OptionTable, PORT_RANGE } from '../context/option-table.ts';
import { Failure } from '../errors/failure.ts';
import { readVariable, stateFolder } from '../profiles/environment.ts';
import { ROLES, type Role } from '../protocol/roles.ts';
import type { ServiceOptions } from '../service/index.ts';
import { chooseDatabase, DATABASE, STATE_DIR } from './serve-keys.ts';

export const SERVE_OPTIONS = {
  host: { type: 'text', value: 'address', help: 'address to listen on (default: 127.0.0.1)' },
  port: { type: 'number', ...PORT_RANGE, value: 'port', help: 'port to listen on (default: any free port)' },
  stateDir: STATE_DIR,
  database: DATABASE,
  role: {
    type: 'choice',
    choices: ROLES,
    help: 'with a database: api answers requests, worker runs jobs and opens no port (default: VLOC_ROLE or all)',
  },
  storage: {
    type: 'text',
    value: 'url',
    help: 'bucket for uploads and results, with --database: s3://BUCKET?endpoint=URL&region=REGION (default: VLOC_STORAGE, else the state folder)',
  },
  config: { type: 'text', value: 'file', help: 'JSON file of settings; options override it' },
  publicOrigin: { type: 'text', value: 'url', help: 'scheme and host that callers see, behind a proxy' },
  trustedProxy: {
    type: 'list',
    value: 'address',
    help: 'addresses and networks of proxies whose X-Forwarded-For is trusted (default: none)',
  },
  allowLoopback: {
    type: 'flag',
    help: 'allow source and callback addresses of this machine, also over http',
  },
  control: {
    type: 'flag',
    help: 'also start the control interface, for tests, on another port of 127.0.0.1',
  },
  controlPort: {
    type: 'number',
    ...PORT_RANGE,
    value: 'port',
    help: 'port of the control interface (default: any free port)',
  },
  log: {
    type: 'choice',
    choices: ['json', 'text'],
    help: 'format of the log on stderr (default: text on a terminal, else json)',
  },
} as const satisfies OptionTable;

type ServeOptions = OptionValues<typeof SERVE_OPTIONS>;

/**
 * Reads the settings of the file, overridden by the options.
 * @throws Failure (`usage`, `configuration`) that names the setting or the option
 */
export async function readServeOptions(context: Context, options: ServeOptions): Promise<ServiceOptions> {
  const chosen = await readSettings(context, options);
  if (chosen.role === 'worker') refuseAddress(options);
  return { ...chosen, control: readControl(options, chosen) };
}

async function readSettings(context: Context, options: ServeOptions): Promise<ServiceOptions> {
  const { checkSettings, optionsOf, readSettingsFile, SettingsError } = await import(
    '../service/operate/settings.ts'
  );
  const { host, port, stateDir, database, storage, role, publicOrigin } = options;
  const { trustedProxy, allowLoopback, config } = options;
  const given = {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(stateDir === undefined ? {} : { state_dir: stateDir }),
    ...(database === undefined ? {} : { database: chooseDatabase(context, database) }),
    ...(role === undefined ? {} : { role }),
    ...(storage === undefined ? {} : { storage }),
    ...(publicOrigin === undefined ? {} : { public_origin: publicOrigin }),
    ...(trustedProxy.length === 0 ? {} : { trusted_proxies: trustedProxy }),
    ...(allowLoopback ? { allow_loopback: true } : {}),
  };
  let inFile = false;
  try {
    const flags = checkSettings(given, 'the options cannot be used');
    inFile = true;
    const file = config === undefined ? {} : await readSettingsFile(resolve(context.io.cwd, config));
    const chosen = chooseDatabase(context, undefined);
    const bucket = readVariable(context.io.env, 'VLOC_STORAGE');
    const variables = {
      ...(chosen === undefined ? {} : { database: chosen }),
      ...(bucket === undefined ? {} : { storage: bucket }),
      ...readRole(context),
    };
    const settings = { ...variables, ...file, ...flags };
    const { env, platform } = context.io;
    return { ...optionsOf(settings, stateFolder(env, platform)), env };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const { message, errors } = error;
    throw new Failure(
      inFile
        ? {
            category: 'configuration',
            code: 'SETTINGS_INVALID',
            message,
            advice: 'Fix the file; docs/service.md lists every setting.',
            errors,
          }
        : {
            category: 'usage',
            code: 'USAGE',
            message,
            advice: 'See `vloc serve --help`.',
            errors: errors.map(({ pointer, detail }) => ({ pointer: flagOf(pointer), detail })),
          },
      { cause: error },
    );
  }
}

/** The option behind a setting: `trusted_proxies.1` was given by `--trusted-proxy`. */
function flagOf(setting: string): string {
  const [name = ''] = setting.split('.');
  return name === 'trusted_proxies' ? '--trusted-proxy' : `--${name.replaceAll('_', '-')}`;
}

/** @throws Failure (`usage`) for options of a process that answers requests */
function refuseAddress({ host, port, publicOrigin, control }: ServeOptions): void {
  const given = Object.entries({ host, port, 'public-origin': publicOrigin, control: control || undefined });
  const [name] = given.find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return;
  throw usageFailure(`--${name} was given for a worker, which opens no port`, `Leave out --${name}.`);
}

/** @throws Failure (`configuration`) for a variable that names no role */
function readRole({ io }: Context): { role?: Role } {
  const given = readVariable(io.env, 'VLOC_ROLE');
  if (given === undefined) return {};
  const role = ROLES.find((each) => each === given);
  if (role !== undefined) return { role };
  throw new Failure({
    category: 'configuration',
    code: 'SETTING_INVALID',
    message: `VLOC_ROLE is not a role: ${given}`,
    advice: `Set it to ${ROLES.join(', ')}, or unset it.`,
  });
}

/** @throws Failure (`usage`) */
function readControl(
  { control, controlPort: port }: ServeOptions,
  service: Pick<ServiceOptions, 'port'>,
): NonNullable<ServiceOptions['control']> {
  if (port !== undefined && !control) {
    throw usageFailure('--control-port was given without --control', 'Add --control.');
  }
  if (port !== undefined && port !== 0 && port === service.port) {
    throw usageFailure('--control-port is also the port of the service', 'Choose another --control-port.');
  }
  return control && (port === undefined ? {} : { port });
}
