import { resolve } from 'node:path';
import * as v from 'valibot';
import type { Failure } from '../../base/failure.ts';
import {
  createService,
  createWorker,
  type IssuedKey,
  type Log,
  type LogEntry,
  type Service,
  type ServiceOptions,
  type Worker,
} from '../../service/index.ts';
import { createLogWriter } from '../../service/log.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { type Context, Interruption } from '../context/context.ts';
import { openEngines } from '../context/engines.ts';
import { formatDuration } from '../context/format.ts';
import { startListening } from '../context/listen.ts';
import { type Presentation, presentLine } from '../context/output/presentation.ts';
import { NullableText } from '../context/output-schemas.ts';
import { writeCommand } from '../context/printed-command.ts';
import { openStateFolder } from '../context/state-folder.ts';
import { reportHealth } from './serve-health.ts';
import { secretLines, showNewKey } from './serve-keys.ts';
import { readServeOptions, SERVE_OPTIONS } from './serve-options.ts';

const STARTED = [
  v.object({
    base_url: v.string(),
    key: NullableText,
    secret: NullableText,
    webhook_secret: NullableText,
    control_url: v.optional(v.string()),
    control_token: v.optional(v.string()),
  }),
  v.object({ role: v.literal('worker'), node: v.string(), metrics_url: v.optional(v.string()) }),
];

const STARTED_SERVICE = { json: STARTED, ndjson: STARTED };

export const serve: Command = defineCommand({
  options: SERVE_OPTIONS,
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
    'With a database, `vloc serve --role api` answers requests and `vloc serve --role worker` runs jobs without a port, on any number of machines; see docs/scale-out.md.',
    '--control lets programs on this machine move the clock, script faults, grant credits and change keys: never use it for real work. See docs/control.md.',
    'Ctrl-C, SIGTERM and SIGHUP let running requests finish, and running jobs for the time of --drain; unfinished jobs continue with another process. A second signal ends these waits: jobs are given back at once.',
    '`vloc serve health` checks the process that uses a state folder; see docs/service.md.',
  ],
  prints: STARTED_SERVICE,
  run: async (context, _operands, options) => {
    context.io.keepHeapSmall?.();
    const { io, terminal } = context;
    const logs = createLogWriter(
      options.log ?? (io.stderr.isTTY === true ? 'text' : 'json'),
      terminal.note,
      io.now,
    );
    const settings = await readServeOptions(context, options);
    const warn = (message: string) => logs.log({ level: 'warn', message });
    // An API node has none, and may not read the home of its user.
    const engines = settings.role === 'api' ? undefined : await openEngines(context, warn);
    if (settings.role === 'worker') {
      const onStoreFailure = (failure: Failure) => context.fail(failure);
      const worker = await startListening(
        () =>
          openStateFolder(settings.stateDir, '--state-dir', () =>
            createWorker({ ...settings, ...logs, engines, onStoreFailure }),
          ),
        undefined,
        { host: '--metrics-host', port: '--metrics-port' },
      );
      return runWorker(context, worker, settings, logs.log);
    }
    const service = await startListening(
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
    await showNewKey(context, presentService(service, keys), () => takeBack(service));
    logs.log({ level: 'info', message: `listening on ${service.url}, state in ${settings.stateDir}` });
    logs.log(describeKeys(context, { newKey: service.newKey, keys, stateDir: settings.stateDir }));
    if (service.control !== null) {
      const message = `tests control this service at ${service.control.url}: its clock, credits and keys are not reliable`;
      logs.log({ level: 'warn', message });
    }
    await untilEnd(context, service, settings, {
      log: logs.log,
      draining: 'running requests finish, unfinished jobs go to the next process on this folder',
    });
    return endOf(context);
  },
});

/** SIGTERM is how a supervisor stops a server, so it is not a failure. */
function endOf({ signal }: Context): number {
  if (signal.reason instanceof Interruption) return 0;
  throw signal.reason;
}

/** Says that the worker works, waits for the signal, and hands its jobs over to other workers. */
async function runWorker(
  context: Context,
  worker: Worker,
  settings: ServiceOptions,
  log: Log,
): Promise<number> {
  const { id: node, metricsUrl } = worker;
  const probes = metricsUrl === null ? {} : { metrics_url: metricsUrl };
  await context.present.show(presentLine({ role: 'worker', node, ...probes }, node));
  log({ level: 'info', message: `carrying out jobs as ${node}` });
  if (metricsUrl !== null) log({ level: 'info', message: `health and metrics at ${metricsUrl}` });
  await untilEnd(context, worker, settings, { log, draining: 'unfinished jobs go to other workers' });
  return endOf(context);
}

/** Reports the health of a process until the signal, lets it finish its work as long as its settings say, and closes it. */
async function untilEnd(
  context: Context,
  node: Pick<Service, 'readHealth' | 'drain' | 'close'>,
  { stateDir, drainMs = 0, shutdownDelayMs = 0 }: ServiceOptions,
  { log, draining }: { log: Log; draining: string },
): Promise<void> {
  const stopReports = await reportHealth(context, resolve(context.io.cwd, stateDir), node.readHealth);
  await aborted(context.signal);
  // A damaged store is closed at once.
  if (context.signal.reason instanceof Interruption && drainMs + shutdownDelayMs > 0) {
    const hurry = new AbortController();
    context.onNextSignal(() => hurry.abort());
    const jobs = drainMs === 0 ? '' : ` running jobs have ${formatDuration(drainMs)} to finish;`;
    log({ level: 'info', message: `draining: no new job is begun;${jobs} a second signal ends this now` });
    await node.drain(hurry.signal);
  }
  log({ level: 'info', message: `draining: ${draining}` });
  await node.close();
  await stopReports();
}

/** True if the first key can be created: only when its secrets are printed. @throws Failure (`usage`) for forms of ids */
function showsSecrets({ present }: Context): boolean {
  if (present.part !== 'ids') return present.part !== 'rows';
  throw invalidCallFailure(
    '--output id would lose the secret of the first key',
    'Use --output json or table, or plain, which makes no key.',
  );
}

async function takeBack({ newKey, dropKey, close }: Service): Promise<void> {
  if (newKey !== null) await dropKey(newKey.key);
  await close();
}

/**
 * The address of the service and, except in rows, its oldest key. Secrets are printed only by the start that created the key.
 */
function presentService({ url, newKey, control }: Service, keys: readonly IssuedKey[]): Presentation {
  const key = keys[0]?.key ?? null;
  const document = {
    base_url: url,
    key,
    secret: newKey?.secret ?? null,
    webhook_secret: newKey?.webhookSecret ?? null,
    ...(control === null ? {} : { control_url: control.url, control_token: control.token }),
  };
  return {
    ...presentLine(document, url),
    ids: () => (key === null ? [] : [key]),
    pages: () => [
      `VLOC_BASE_URL=${url}`,
      ...(key === null ? [] : [`VLOC_KEY=${key}`]),
      ...(newKey === null ? [] : secretLines(newKey)),
      ...(control === null ? [] : [`CONTROL_URL=${control.url}`, `CONTROL_TOKEN=${control.token}`]),
    ],
  };
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
