import { resolve } from 'node:path';
import { type Command, defineCommand, type OptionValues, usageFailure } from '../context/command.ts';
import { openStateFolder } from '../context/connection.ts';
import { type Context, Interruption } from '../context/context.ts';
import { openEngines } from '../context/engines.ts';
import type { OptionTable } from '../context/option-table.ts';
import { writeCommand } from '../context/printed-command.ts';
import { Failure } from '../errors/failure.ts';
import { errorCode } from '../errors/system-error.ts';
import { readVariable, stateFolder } from '../profiles/environment.ts';
import { ROLES, type Role } from '../protocol/roles.ts';
import type { IssuedKey, Log, LogEntry, Service, ServiceOptions, Worker } from '../service/index.ts';
import { chooseDatabase, DATABASE, STATE_DIR, showNewKey } from './serve-keys.ts';

const OPTIONS = {
  host: { type: 'text', value: 'address', help: 'address to listen on (default: 127.0.0.1)' },
  port: { type: 'number', value: 'port', help: 'port to listen on (default: any free port)' },
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
    value: 'port',
    help: 'port of the control interface (default: any free port)',
  },
  log: {
    type: 'choice',
    choices: ['json', 'text'],
    help: 'format of the log on stderr (default: text on a terminal, else json)',
  },
} as const satisfies OptionTable;

type Options = OptionValues<typeof OPTIONS>;

export const serve: Command = defineCommand({
  options: OPTIONS,
  examples: [
    { command: 'vloc serve', explains: 'listen on a free port of this machine until Ctrl-C' },
    {
      command: 'vloc serve --port 8080 --output json',
      explains: 'the first line contains the address and the key, at the first start also its secrets',
    },
    {
      command:
        'vloc serve --config service.json --public-origin https://media.example.com --trusted-proxy 127.0.0.1 -o plain',
      explains: 'behind a TLS proxy; prints only the address on stdout',
    },
    {
      command: 'vloc serve --control --output json',
      explains: 'for tests: the first line also contains the address and the token of the control interface',
    },
  ],
  notes: [
    'The engines are read at the start, from engines.json in the folder of the profiles, or from the file of --engines or VLOC_ENGINES.',
    'The first start with a new state folder creates a key and shows its secrets once; with --output plain it creates none. `vloc serve keys create` creates more.',
    'With a database, `vloc serve --role api` answers requests and `vloc serve --role worker` runs jobs without a port, on any number of machines; see docs/service.md.',
    '--control lets programs on this machine move the clock, script faults, grant credits and change keys: never use it for real work. `vloc serve control` uses it; see docs/control.md.',
    'Ctrl-C lets running requests finish; unfinished jobs continue with the next service on the same folder.',
  ],
  schemas: async () => (await import('../outputs/embedded-service.ts')).STARTED_SERVICE,
  run: async (context, _operands, options) => {
    context.io.keepHeapSmall?.();
    const [{ createService, createWorker }, { createLogWriter }] = await Promise.all([
      import('../service/index.ts'),
      import('../service/log.ts'),
    ]);
    const { io, terminal } = context;
    const logs = createLogWriter(
      options.log ?? (io.stderr.isTTY === true ? 'text' : 'json'),
      terminal.note,
      io.now,
    );
    const chosen = await readOptions(context, options);
    const settings = { ...chosen, control: readControl(options, chosen) };
    const warn = (message: string) => logs.log({ level: 'warn', message });
    const engines = await openEngines(context, warn);
    if (settings.role === 'worker') {
      refuseAddress(options);
      const onStoreFailure = (failure: Failure) => context.fail(failure);
      const worker = await openStateFolder(settings.stateDir, '--state-dir', () =>
        createWorker({ ...settings, ...logs, engines, onStoreFailure }),
      );
      return runWorker(context, worker, logs.log);
    }
    const service = await listen(
      () =>
        openStateFolder(settings.stateDir, '--state-dir', () =>
          createService({
            ...settings,
            ...logs,
            engines,
            wantsFirstKey: () => showsSecrets(context),
            onStoreFailure: (failure) => context.fail(failure),
          }),
        ),
      options.controlPort,
    );
    const keys = service.newKey === null ? await service.keys() : [service.newKey];
    await showNewKey(
      context,
      () => announce(context, service, keys),
      () => takeBack(service),
    );
    logs.log({ level: 'info', message: `listening on ${service.url}, state in ${settings.stateDir}` });
    logs.log(describeKeys(context, { newKey: service.newKey, keys, stateDir: settings.stateDir }));
    if (service.control !== null) {
      const message = `tests control this service at ${service.control.url}: its clock, credits and keys are not reliable`;
      logs.log({ level: 'warn', message });
    }
    await aborted(context.signal);
    logs.log({
      level: 'info',
      message: 'draining: running requests finish, unfinished jobs go to the next process on this folder',
    });
    await service.close();
    return endOf(context);
  },
});

/** SIGTERM is how a supervisor stops a server, so it is not a failure. */
function endOf({ signal }: Context): number {
  if (signal.reason instanceof Interruption) return 0;
  throw signal.reason;
}

/** Says that the worker works, waits for the signal, and hands its jobs over to other workers. */
async function runWorker(context: Context, worker: Worker, log: Log): Promise<number> {
  const isDocument = context.output === 'json' || context.output === 'ndjson';
  context.print(isDocument ? JSON.stringify({ role: 'worker', node: worker.id }) : worker.id);
  log({ level: 'info', message: `carrying out jobs as ${worker.id}` });
  await aborted(context.signal);
  log({ level: 'info', message: 'draining: unfinished jobs go to other workers' });
  await worker.close();
  return endOf(context);
}

/** @throws Failure (`usage`) for options of a process that answers requests */
function refuseAddress({ host, port, publicOrigin, control }: Options): void {
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

/** True if the first key can be created: only when its secrets are printed. @throws Failure (`usage`) for `id` */
function showsSecrets({ output }: Context): boolean {
  if (output !== 'id') return output !== 'plain';
  throw usageFailure(
    '--output id would lose the secret of the first key',
    'Use --output json or table, or plain, which makes no key.',
  );
}

/** @throws Failure (`usage`) */
function readControl(
  { control, controlPort: port }: Options,
  service: Pick<ServiceOptions, 'port'>,
): NonNullable<ServiceOptions['control']> {
  if (port !== undefined && !control) {
    throw usageFailure('--control-port was given without --control', 'Add --control.');
  }
  if (port !== undefined && (!Number.isInteger(port) || port < 0 || port > 65_535)) {
    throw usageFailure('--control-port is not a whole number from 0 to 65535', 'See `vloc serve --help`.');
  }
  if (port !== undefined && port !== 0 && port === service.port) {
    throw usageFailure('--control-port is also the port of the service', 'Choose another --control-port.');
  }
  return control && (port === undefined ? {} : { port });
}

async function takeBack({ newKey, dropKey, close }: Service): Promise<void> {
  if (newKey !== null) await dropKey(newKey.key);
  await close();
}

/** The settings of the file, overridden by the options. @throws Failure that names the setting or the option */
async function readOptions(context: Context, options: Options): Promise<ServiceOptions> {
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

/** What to do about an address that cannot be used, by error; `port` is the option that chose its port. */
const ADDRESS_ADVICE: Readonly<Record<string, (port: string) => string>> = {
  EADDRINUSE: (port) => `Another program listens there: choose another ${port}, or stop that program.`,
  EADDRNOTAVAIL: () => 'This machine does not have that address: choose another --host.',
  ENOTFOUND: () => 'That name has no address: choose another --host.',
  EACCES: (port) => `Ports under 1024 need a permission: choose a higher ${port}, or put a proxy in front.`,
};

/**
 * Starts listening.
 * @param controlPort port that `--control-port` chose
 * @throws Failure (`configuration`) for an address that cannot be used, with what to change
 */
export async function listen<Listening>(
  start: () => Promise<Listening>,
  controlPort?: number,
): Promise<Listening> {
  try {
    return await start();
  } catch (error) {
    const code = errorCode(error);
    const advice = ADDRESS_ADVICE[code];
    if (advice === undefined || !(error instanceof Error) || !('syscall' in error)) throw error;
    if (error.syscall !== 'listen' && error.syscall !== 'getaddrinfo') throw error;
    const isOfControl = 'port' in error && error.port === controlPort;
    throw new Failure(
      {
        category: 'configuration',
        code: 'CANNOT_LISTEN',
        message: error.message,
        advice: advice(isOfControl ? '--control-port' : '--port'),
      },
      { cause: error },
    );
  }
}

/**
 * Prints the address of the service and, except in `plain`, its oldest key. Secrets are printed only by the start that
 * created the key.
 */
function announce(context: Context, { url, newKey, control }: Service, keys: readonly IssuedKey[]): void {
  const key = keys[0]?.key ?? null;
  const { print } = context;
  switch (context.output) {
    case 'json':
    case 'ndjson':
      print(
        JSON.stringify({
          base_url: url,
          key,
          secret: newKey?.secret ?? null,
          webhook_secret: newKey?.webhookSecret ?? null,
          ...(control === null ? {} : { control_url: control.url, control_token: control.token }),
        }),
      );
      break;
    case 'plain':
      print(url);
      break;
    case 'id':
      if (key !== null) print(key);
      break;
    case 'table':
      print(`VLOC_BASE_URL=${url}`);
      if (key !== null) print(`VLOC_KEY=${key}`);
      if (newKey !== null) {
        print(`VLOC_SECRET=${newKey.secret}`);
        print(`VLOC_WEBHOOK_SECRET=${newKey.webhookSecret}`);
      }
      if (control !== null) {
        print(`CONTROL_URL=${control.url}`);
        print(`CONTROL_TOKEN=${control.token}`);
      }
  }
}

/** The log entry about the keys. */
function describeKeys(
  context: Context,
  { newKey, keys, stateDir }: { newKey: IssuedKey | null; keys: readonly IssuedKey[]; stateDir: string },
): LogEntry {
  const create = writeCommand(context, ['serve', 'keys', 'create', '--state-dir', stateDir]);
  if (newKey !== null) {
    return { level: 'info', message: `created the key ${newKey.key}; its secrets are shown only now` };
  }
  return keys.length === 0
    ? { level: 'warn', message: `no key works; create one with: ${create}` }
    : {
        level: 'info',
        message: `secrets are shown once, when a key is created; create another with: ${create}`,
      };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
