/**
 * The service that is controlled, and temporary workspaces beside it: each has its own account, keys, clock, faults and
 * address, so that tests do not disturb each other.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engines } from '../../engines/engine.ts';
import type { ServiceContext } from '../context.ts';
import { type FaultScript, scriptFaults } from '../faults/script.ts';
import type { Faults } from '../http/faults.ts';
import { refuseFields } from '../http/refusal.ts';
import { checkSettings, configOf, SettingsError } from '../operate/settings.ts';
import type { Service, ServiceOptions } from '../options.ts';
import { createMovableClock, type MovableClock } from './clock.ts';
import { createMediaGate, type MediaGate } from './media-gate.ts';

export interface Workspace {
  /** Empty for the service itself. */
  readonly id: string;
  readonly context: ServiceContext;
  readonly service: Service;
  readonly clock: MovableClock;
  readonly faults: FaultScript;
  readonly gate: MediaGate;
  /** Where the operations of this workspace are. */
  controlUrl(): string;
}

export interface Workspaces {
  /** The service itself. */
  readonly root: Workspace;
  find(id: string): Workspace | undefined;
  /** Temporary ones, oldest first. */
  list(): readonly Workspace[];
  /** Opens one. @param settings as in `service.json` @throws Refusal for invalid settings */
  create(settings: object): Promise<Workspace>;
  close(id: string): Promise<void>;
  closeAll(): Promise<void>;
}

/** The engines of a service: loaded at first use, and ended with it. */
export interface EngineSupply {
  readonly engines: () => Promise<Engines>;
  readonly closeEngines: () => Promise<void>;
}

/** Starts a service with the given engines. */
export type StartService = (
  options: ServiceOptions,
  supply: EngineSupply,
) => Promise<{ readonly service: Service; readonly context: ServiceContext }>;

/** Settings of the machine, which a workspace cannot choose. */
const OF_THE_MACHINE = [
  'database',
  'storage',
  'host',
  'port',
  'state_dir',
  'public_origin',
  'role',
  'trusted_proxies',
  'metrics_from',
  'metrics_port',
  'metrics_host',
  'drain_seconds',
  'shutdown_delay_seconds',
];

/** 48 bits: unique among the workspaces of one process. */
const ID_BYTES = 6;

/**
 * Starts the service itself.
 * @param controlOrigin scheme, host and port of the control interface
 */
export async function openWorkspaces(
  options: ServiceOptions,
  supply: EngineSupply,
  start: StartService,
  controlOrigin: () => string,
): Promise<Workspaces> {
  const open = async (id: string, changed: ServiceOptions, end: () => Promise<void>): Promise<Workspace> => {
    const clock = createMovableClock(options.clock);
    const faults = scriptFaults();
    const gate = createMediaGate();
    const all = options.faults === undefined ? faults : chainFaults(faults, options.faults);
    let guarded: Promise<Engines> | null = null;
    const engines = () => {
      guarded ??= supply.engines().then(gate.guard);
      return guarded;
    };
    const { service, context } = await start(
      { ...changed, clock, faults: all },
      { engines, closeEngines: end },
    );
    const controlUrl = () => (id === '' ? controlOrigin() : `${controlOrigin()}/workspaces/${id}`);
    return { id, context, service, clock, faults, gate, controlUrl };
  };

  const root = await open('', options, supply.closeEngines);
  const temporary = new Map<string, { workspace: Workspace; folder: string }>();

  const end = async (id: string) => {
    const found = temporary.get(id);
    if (found === undefined) return;
    temporary.delete(id);
    await closeWorkspace(found.workspace);
    if (options.database !== undefined) await removeDatabase(options.database, id);
    if (options.storage !== undefined) await removeStorage(options, options.storage, id);
    await rm(found.folder, { recursive: true, force: true });
  };

  return {
    root,
    find: (id) => temporary.get(id)?.workspace,
    list: () => Array.from(temporary.values(), ({ workspace }) => workspace),
    async create(settings) {
      const config = readSettings(settings, root.context);
      const {
        host: _host,
        port: _port,
        trustedProxies: _proxies,
        metricsFrom: _metrics,
        ...inherited
      } = options;
      const id = `ws_${root.context.randomBytes(ID_BYTES).toString('hex')}`;
      const folder = await mkdtemp(join(tmpdir(), 'vloc-workspace-'));
      try {
        const { allowLoopback } = config;
        const stateDir = join(folder, 'state');
        const database = await ownDatabase(inherited, id);
        const chosen = {
          ...inherited,
          ...database,
          stateDir,
          config,
          allowLoopback,
          wantsFirstKey: () => true,
        };
        const workspace = await open(id, chosen, async () => {});
        temporary.set(id, { workspace, folder });
        return workspace;
      } catch (error) {
        await rm(folder, { recursive: true, force: true });
        throw error;
      }
    },
    close: end,
    async closeAll() {
      await Promise.all([...temporary.keys()].map(end));
      await closeWorkspace(root);
    },
  };
}

/** A workspace has tables of its own in the database of the service, and a folder of its own in its bucket. */
async function ownDatabase(
  { database, storage }: ServiceOptions,
  id: string,
): Promise<Pick<ServiceOptions, 'database' | 'storage'>> {
  if (database === undefined) return {};
  const { withSchema } = await import('../store/open-postgres.ts');
  const own = { database: withSchema(database, id) };
  if (storage === undefined) return own;
  const { withFolder } = await import('../storage/s3-address.ts');
  return { ...own, storage: withFolder(storage, id) };
}

async function removeStorage(
  { env = process.env }: ServiceOptions,
  address: string,
  id: string,
): Promise<void> {
  const [{ removeFolder }, { withFolder }] = await Promise.all([
    import('../storage/open-s3.ts'),
    import('../storage/s3-address.ts'),
  ]);
  await removeFolder(withFolder(address, id), env);
}

async function removeDatabase(url: string, id: string): Promise<void> {
  const { removePostgresAccount, withSchema } = await import('../store/open-postgres.ts');
  await removePostgresAccount(withSchema(url, id));
}

/** A frozen clock would never end the waits of a shutdown. */
async function closeWorkspace({ clock, gate, service }: Workspace): Promise<void> {
  clock.resume();
  gate.release();
  await service.close();
}

/** The configuration of the service with some settings changed. */
function readSettings(settings: object, { config }: ServiceContext) {
  const foreign = Object.keys(settings).filter((name) => OF_THE_MACHINE.includes(name));
  if (foreign.length > 0) {
    const detail = 'cannot be chosen for a workspace';
    throw refuseFields(foreign.map((name) => ({ pointer: `settings/${name}`, detail })));
  }
  try {
    return { ...configOf(checkSettings(settings, 'the settings are invalid'), config), publicOrigin: null };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw refuseFields(
      error.errors.map(({ pointer, detail }) => ({
        pointer: `settings/${pointer.replaceAll('.', '/')}`,
        detail,
      })),
    );
  }
}

/** Asks the first faults, and the second where they let a request through. */
function chainFaults(first: Faults, second: Faults): Faults {
  return {
    before: async (request) => (await first.before(request)) ?? second.before(request),
    async after(request, answer) {
      const given = await second.after(request, answer);
      return given === 'drop' ? given : first.after(request, given);
    },
  };
}
