/** The connection to the service of a run: a remote one, or the embedded one; both over real HTTP. */

import { configurationFailure } from '../../base/failure.ts';
import type { Client, ClientEvent } from '../../client/index.ts';
import type { Capabilities } from '../../engines/engine.ts';
import { proxySettings, readVariable, stateFolder } from '../../profiles/environment.ts';
import {
  describeProjectHost,
  readSources,
  resolveSettings,
  resolveTarget,
  type ServiceTarget,
} from '../../profiles/resolve.ts';
import { createSecretKeeper, type SecretKeeper, withoutLineBreak } from '../../profiles/secrets.ts';
import type { Settings } from '../../profiles/settings.ts';
import type { Prices } from '../../protocol/prices.ts';
import type { Provenance } from '../../protocol/provenance.ts';
import type { Context } from './context.ts';
import { formatDuration } from './format.ts';
import { openStateFolder } from './state-folder.ts';

export interface Connection {
  readonly client: Client;
  /** Capabilities of the embedded engines; null for a remote service. */
  readonly capabilities: Capabilities | null;
  /** True for the embedded service: it counts credits, and they cost nothing. */
  readonly isFree: boolean;
  /** Credits for one unit of each kind: those of the embedded service, or what the user states about a remote one. */
  readonly prices: Prices;
  /** Returns how a finished job was made; null from a remote service, which does not state it. */
  readProvenance(jobId: string): Promise<Provenance | null>;
  /** Names what translates: the service by its address, or the engines of the embedded one. */
  translator(): Promise<string>;
  /** Polling interval in milliseconds; null for the default of the client. */
  readonly everyMs: number | null;
  /** Identifies service and key in the records of this machine; see `profileId`. */
  readonly profile: string;
  /** Folder of these records. */
  readonly stateDir: string;
  close(): Promise<void>;
}

/** Short enough to show each stage; a request to the embedded service takes a millisecond. */
const EMBEDDED_POLL_MS = 200;

/** Connects to the service of the run; a note on stderr says if it is the embedded one. The caller must close. */
export async function connectService(context: Context): Promise<Connection> {
  const target = await chooseService(context);
  return target.type === 'remote'
    ? connectRemote(target, context)
    : connectEmbedded(target.stateDir, context);
}

/** The service that flags, environment, project file and profiles choose together, with its secret. */
async function chooseService(context: Context): Promise<ServiceTarget> {
  const { io, service: flags, terminal, signal } = context;
  const { env, platform, cwd } = io;
  const shown = SHOWN.get(terminal) ?? new Set<string>();
  SHOWN.set(terminal, shown);
  const warn = (text: string) => {
    if (!shown.has(text)) terminal.warn(text);
    shown.add(text);
  };
  const sources = await readSources({ flags, env, platform, cwd, warn });
  const target = await resolveTarget(sources, (source) => createKeeper(context).fetch(source, signal));
  if (target.type === 'embedded') return target;
  const stranger = describeProjectHost(resolveSettings(sources), sources);
  if (stranger !== null) warn(stranger);
  return {
    ...target,
    key: withoutLineBreak(target.key, 'The API key', warn),
    secret: withoutLineBreak(target.secret, 'The API secret', warn),
  };
}

/** What the connections of a run have warned of: some commands connect more than once. */
const SHOWN = new WeakMap<Context['terminal'], Set<string>>();

/** Where the secrets of this run's profiles are kept. */
export function createKeeper({ io, terminal }: Context): SecretKeeper {
  const isAttended = () => io.stdin.isTTY === true && io.stderr.isTTY === true;
  return createSecretKeeper({ env: io.env, isAttended, note: terminal.note });
}

/** A client of a remote service; the proxy comes from the environment. */
export async function createRemoteClient(
  target: Omit<ServiceTarget & { type: 'remote' }, 'type' | 'prices'>,
  context: Context,
): Promise<Client> {
  const { createClient } = await import('../../client/client.ts');
  const proxy = proxySettings(context.io.env);
  const way = proxy === undefined ? {} : { proxy };
  return createClient({
    ...target,
    ...way,
    ...context.io.pace,
    onEvent: (event) => printClientEvent(event, context),
  });
}

async function connectRemote(
  target: ServiceTarget & { type: 'remote' },
  context: Context,
): Promise<Connection> {
  const client = await createRemoteClient(target, context);
  const profile = await nameProfile(target.baseUrl, target.key);
  const { env, platform } = context.io;
  return {
    client,
    capabilities: null,
    isFree: false,
    prices: target.prices,
    readProvenance: async () => null,
    translator: async () => target.baseUrl,
    everyMs: null,
    profile,
    stateDir: stateFolder(env, platform),
    close: () => client.close(),
  };
}

async function connectEmbedded(stateDir: string, context: Context): Promise<Connection> {
  const [
    { createService },
    { stuckFailure },
    { createLogWriter },
    { DEFAULT_CONFIG },
    { defaultEngines },
    engines,
    { createClient },
  ] = await Promise.all([
    import('../../service/index.ts'),
    import('./stuck-failure.ts'),
    import('../../service/log.ts'),
    import('../../service/config.ts'),
    import('../../engines/config.ts'),
    import('./engines.ts').then(({ openEngines }) => openEngines(context)),
    import('../../client/client.ts'),
  ]);
  const capabilities = await engines.capabilities();
  const config = embeddedConfig(context);
  const service = await openStateFolder(stateDir, 'VLOC_STATE_DIR', () =>
    createService({
      stateDir,
      engines,
      config,
      log: createLogWriter('text', context.terminal.detail, context.io.now).log,
      onStoreFailure: (failure) => context.fail(failure),
      onStuck: (error) => context.fail(stuckFailure(error, stateDir)),
      onUpgrade: context.terminal.note,
    }),
  );
  context.terminal.note(`Embedded service: everything runs on this machine (state in ${stateDir}).`);
  const [{ key, secret } = await service.issueKey()] = await service.keys();
  const client = createClient({
    baseUrl: service.url,
    key,
    secret,
    onEvent: (event) => printClientEvent(event, context),
  });
  return {
    client,
    capabilities,
    isFree: true,
    prices: DEFAULT_CONFIG.prices,
    readProvenance: service.readProvenance,
    async translator() {
      const [{ readEngines }, { nameEngines }] = await Promise.all([
        import('./engines.ts'),
        import('../../engines/create.ts'),
      ]);
      const config = await readEngines(context, () => undefined);
      return nameEngines(config?.translate ?? defaultEngines('translate'));
    },
    everyMs: EMBEDDED_POLL_MS,
    profile: await nameProfile(stateDir, key),
    stateDir,
    close: async () => {
      await client.close();
      await service.close();
    },
  };
}

const STAGE_CACHE = 'VLOC_STAGE_CACHE_MIB';

/** @throws Failure (`configuration`) for a size that is not a whole number */
function embeddedConfig({ io }: Context): { stageCacheBytes?: number } {
  const given = readVariable(io.env, STAGE_CACHE);
  if (given === undefined) return {};
  if (/^\d{1,9}$/.test(given)) return { stageCacheBytes: Number(given) * 1024 ** 2 };
  throw configurationFailure(
    'SETTING_INVALID',
    `${STAGE_CACHE} is not a whole number: ${given}`,
    'Set it to a number of MiB, such as 4096, or unset it.',
  );
}

/** Loaded here because it loads `node:crypto`, which the help does not need. */
async function nameProfile(service: string, key: string): Promise<string> {
  const { profileId } = await import('../../batch/records/profile-id.ts');
  return profileId(service, key);
}

/** Reports what a client does: retries as notes, the rest as details. */
export function printClientEvent(event: ClientEvent, { terminal }: Pick<Context, 'terminal'>): void {
  switch (event.type) {
    case 'request':
      terminal.detail(
        `→ ${event.method} ${event.url}${event.attempt > 1 ? ` (attempt ${event.attempt})` : ''}`,
      );
      break;
    case 'response':
      terminal.detail(`← ${event.status} in ${event.durationMs} ms ${event.requestId ?? ''}`);
      break;
    case 'retry': {
      const why = event.asked ? `${event.message}; the service asks for it` : event.message;
      if (event.waitMs >= NOTICEABLE_MS) terminal.note(`Waiting ${formatDuration(event.waitMs)}: ${why}`);
      else terminal.detail(`again in ${event.waitMs} ms: ${why} (${event.code})`);
      break;
    }
    case 'skew':
      terminal.warn(
        `The clock of this machine is ${Math.abs(event.seconds)} s ${event.seconds > 0 ? 'ahead' : 'behind'}; corrected for this run. Set it right, or the service refuses other programs.`,
      );
      break;
    case 'notice':
      terminal.note(event.message);
  }
}

/** Shorter waits are not worth a note. */
const NOTICEABLE_MS = 2_000;

/**
 * Reads the settings of the service from flags, environment, project file and profiles, without fetching a secret.
 * @param warn called for files that other users can read
 * @throws Failure (`configuration`) for an unusable file or combination
 */
export async function readSettings(context: Context, warn: (text: string) => void): Promise<Settings> {
  const { io, service: flags } = context;
  const { env, platform, cwd } = io;
  return resolveSettings(await readSources({ flags, env, platform, cwd, warn }));
}
