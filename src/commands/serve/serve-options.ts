/** Options of `vloc serve`, and the settings resolved from them, the variables and the settings file. */

import { resolve } from 'node:path';
import * as v from 'valibot';
import { configurationFailure, Failure } from '../../base/failure.ts';
import {
  choiceOption,
  durationOption,
  flagOption,
  listOption,
  numberOption,
  type OptionTable,
  type OptionValues,
  PORT_RANGE,
  textOption,
} from '../../base/option.ts';
import { type EnvironmentName, readVariable, stateFolder } from '../../profiles/environment.ts';
import { ROLES, type Role } from '../../protocol/roles.ts';
import type { ServiceOptions } from '../../service/index.ts';
import {
  checkSettings,
  describeSettings,
  optionsOf,
  readSettingsFile,
  SettingsError,
} from '../../service/operate/settings.ts';
import { invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { parseDuration } from '../context/format.ts';
import { chooseDatabase, DATABASE, STATE_DIR } from './serve-keys.ts';

export const SERVE_OPTIONS = {
  host: textOption('address', 'address to listen on (default: 127.0.0.1)', { daily: true }),
  port: numberOption('port', 'port to listen on (default: any free port)', { ...PORT_RANGE, daily: true }),
  stateDir: STATE_DIR,
  database: DATABASE,
  role: choiceOption(
    ROLES,
    'with a database: api answers requests, worker runs jobs and opens no port (default: VLOC_ROLE or all)',
  ),
  storage: textOption(
    'url',
    'bucket for uploads and results, with --database: s3://BUCKET?endpoint=URL&region=REGION (default: VLOC_STORAGE, else the state folder)',
  ),
  config: textOption('file', 'JSON file of settings; options override it', { daily: true }),
  publicOrigin: textOption('url', 'scheme and host that callers see, behind a proxy', { daily: true }),
  trustedProxy: listOption(
    'address',
    'addresses and networks of proxies whose X-Forwarded-For is trusted (default: none)',
    { daily: true },
  ),
  metricsFrom: listOption('address', 'addresses and networks that may read /metrics (default: this machine)'),
  metricsPort: numberOption(
    'port',
    'port of the health and metrics of a worker (default: VLOC_METRICS_PORT, else none)',
    PORT_RANGE,
  ),
  metricsHost: textOption(
    'address',
    'address to listen on for --metrics-port (default: VLOC_METRICS_HOST or 127.0.0.1)',
  ),
  drain: durationOption(
    'after SIGTERM let running jobs finish for this time, such as 30m (default: VLOC_DRAIN or 0s)',
  ),
  shutdownDelay: durationOption(
    'after SIGTERM answer for this time while /readyz is 503 (default: VLOC_SHUTDOWN_DELAY, else 5s with --role api, else 0s)',
  ),
  allowLoopback: flagOption('allow source and callback addresses of this machine, also over http'),
  control: flagOption('also start the control interface, for tests, on another port of 127.0.0.1'),
  controlPort: numberOption('port', 'port of the control interface (default: any free port)', PORT_RANGE),
  log: choiceOption(['json', 'text'], 'format of the log on stderr (default: text on a terminal, else json)'),
} as const satisfies OptionTable;

type ServeOptions = OptionValues<typeof SERVE_OPTIONS>;

/**
 * Reads the settings of the file, overridden by the options.
 * @throws Failure (`usage`, `configuration`) that names the setting or the option
 */
export async function readServeOptions(context: Context, options: ServeOptions): Promise<ServiceOptions> {
  const chosen = await readSettings(context, options);
  if (chosen.role === 'worker') refuseAddress(options);
  else refuseProbes(options);
  return { ...chosen, control: readControl(options, chosen) };
}

async function readSettings(context: Context, options: ServeOptions): Promise<ServiceOptions> {
  const { host, port, stateDir, database, storage, role, publicOrigin } = options;
  const { trustedProxy, allowLoopback, config, metricsFrom, metricsPort, metricsHost } = options;
  const given = {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(stateDir === undefined ? {} : { state_dir: stateDir }),
    ...(database === undefined ? {} : { database: chooseDatabase(context, database) }),
    ...(role === undefined ? {} : { role }),
    ...(storage === undefined ? {} : { storage }),
    ...(publicOrigin === undefined ? {} : { public_origin: publicOrigin }),
    ...(trustedProxy.length === 0 ? {} : { trusted_proxies: trustedProxy }),
    ...(metricsFrom.length === 0 ? {} : { metrics_from: metricsFrom }),
    ...(metricsPort === undefined ? {} : { metrics_port: metricsPort }),
    ...(metricsHost === undefined ? {} : { metrics_host: metricsHost }),
    ...(options.drain === undefined ? {} : { drain_seconds: options.drain / 1000 }),
    ...(options.shutdownDelay === undefined ? {} : { shutdown_delay_seconds: options.shutdownDelay / 1000 }),
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
      ...readTimesAndPort(context),
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
            errors: errors.map(({ pointer, detail }) => ({
              pointer: flagOf(pointer, describeSettings()),
              detail,
            })),
          },
      { cause: error },
    );
  }
}

/** The option behind a setting: `trusted_proxies.1` was given by `--trusted-proxy`. */
function flagOf(setting: string, rows: readonly { readonly name: string; readonly flag: string }[]): string {
  const [name = ''] = setting.split('.');
  return rows.find((row) => row.name === name)?.flag ?? setting;
}

/** @throws Failure (`usage`) for options of a process that answers requests */
function refuseAddress({ host, port, publicOrigin, control }: ServeOptions): void {
  const given = Object.entries({ host, port, 'public-origin': publicOrigin, control: control || undefined });
  const [name] = given.find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return;
  throw invalidCallFailure(
    `--${name} was given for a worker, which answers no requests`,
    `Leave out --${name}; --metrics-port is the port of its health and metrics.`,
  );
}

/** @throws Failure (`usage`) for options of a process that answers no requests */
function refuseProbes({ metricsPort, metricsHost }: ServeOptions): void {
  const name = metricsPort === undefined ? '--metrics-host' : '--metrics-port';
  if (metricsPort === undefined && metricsHost === undefined) return;
  throw invalidCallFailure(
    `${name} is for workers; a process that answers requests has /livez, /readyz and /metrics on its own port`,
    `Leave out ${name}, or add --role worker.`,
  );
}

/** Settings by variables that are no texts. @throws Failure (`configuration`) that names the variable */
function readTimesAndPort({ io: { env } }: Context): {
  metrics_port?: number;
  metrics_host?: string;
  drain_seconds?: number;
  shutdown_delay_seconds?: number;
} {
  const host = readVariable(env, 'VLOC_METRICS_HOST');
  const port = readVariable(env, 'VLOC_METRICS_PORT');
  if (port !== undefined && !v.is(SERVE_OPTIONS.metricsPort, Number(port)))
    throw variableFailure('VLOC_METRICS_PORT', `is not a whole number from 0 to 65535: ${port}`);
  const readSeconds = (name: 'VLOC_DRAIN' | 'VLOC_SHUTDOWN_DELAY') => {
    const text = readVariable(env, name);
    const ms = text === undefined ? undefined : parseDuration(text);
    if (ms === null) throw variableFailure(name, `is not a time such as 90s, 30m or 2h: ${text}`);
    return ms === undefined ? undefined : ms / 1000;
  };
  const drain = readSeconds('VLOC_DRAIN');
  const delay = readSeconds('VLOC_SHUTDOWN_DELAY');
  return {
    ...(port === undefined ? {} : { metrics_port: Number(port) }),
    ...(host === undefined ? {} : { metrics_host: host }),
    ...(drain === undefined ? {} : { drain_seconds: drain }),
    ...(delay === undefined ? {} : { shutdown_delay_seconds: delay }),
  };
}

function variableFailure(name: EnvironmentName, what: string): Failure {
  return configurationFailure('SETTING_INVALID', `${name} ${what}`, `Correct ${name}, or unset it.`);
}

/** @throws Failure (`configuration`) for a variable that names no role */
function readRole({ io }: Context): { role?: Role } {
  const given = readVariable(io.env, 'VLOC_ROLE');
  if (given === undefined) return {};
  const role = ROLES.find((each) => each === given);
  if (role !== undefined) return { role };
  throw variableFailure('VLOC_ROLE', `is not a role (${ROLES.join(', ')}): ${given}`);
}

/** @throws Failure (`usage`) */
function readControl(
  { control, controlPort: port }: ServeOptions,
  service: Pick<ServiceOptions, 'port'>,
): NonNullable<ServiceOptions['control']> {
  if (port !== undefined && !control) {
    throw invalidCallFailure('--control-port was given without --control', 'Add --control.');
  }
  if (port !== undefined && port !== 0 && port === service.port) {
    throw invalidCallFailure(
      '--control-port is also the port of the service',
      'Choose another --control-port.',
    );
  }
  return control && (port === undefined ? {} : { port });
}
