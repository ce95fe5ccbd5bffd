/** Starts the parts of a process, of a service or of a worker, and ends them. */
import { randomBytes as systemRandom } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { configurationFailure, type Failure } from '../base/failure.ts';
import type { Engines } from '../engines/engine.ts';
import { withDefaults } from '../protocol/defaults.ts';
import { createIdMaker } from '../protocol/ids.ts';
import { VERSION_PREFIX } from '../protocol/operations.ts';
import type { Role } from '../protocol/roles.ts';
import { changeKey, dropKey, type IssuedKey, issueKey, listKeys } from './auth/keys.ts';
import { createSharedNonces, openNonceMemory } from './auth/nonces.ts';
import { createRateLimiter, createSharedCounter } from './auth/rate.ts';
import { type BackgroundWork, startBackground } from './background.ts';
import { sleepFor, systemClock } from './clock.ts';
import { DEFAULT_CONFIG, type ServiceConfig } from './config.ts';
import type { ServiceContext, Signals } from './context.ts';
import { grantCredits } from './credits/account.ts';
import { createCursorSealer } from './cursors.ts';
import { type Folders, prepareFolders } from './folders.ts';
import { DOCS_PATH } from './http/router.ts';
import { readProvenance } from './jobs/rows.ts';
import type { Log } from './log.ts';
import { createNodeHealth } from './operate/health.ts';
import type { NodeHealth, Service, ServiceOptions, Worker } from './options.ts';
import { createFractions } from './random.ts';
import { type RunningServer, startServer } from './server/server.ts';
import { createStageCache } from './stages/stage-cache.ts';
import { createFolderStorage } from './storage/folder-storage.ts';
import { createLinkSigner } from './storage/links.ts';
import type { OpenBucket } from './storage/open-s3.ts';
import { createScratch } from './storage/scratch.ts';
import { createCommitTogether } from './store/commit-together.ts';
import { followDatabase, readDatabaseTime } from './store/database-clock.ts';
import { openAccountStore } from './store/open-account.ts';
import { ensureSecret } from './store/store.ts';

/**
 * Starts a worker, which opens no port except that of `metricsPort`. Resolves when it takes jobs.
 * @param options `role` is `worker` whatever they say, and nothing about keys and other addresses is used
 * @throws Failure as `createService`
 */
export async function createWorker(options: ServiceOptions): Promise<Worker> {
  const supply = createEngineLoader(options.engines, options.log);
  const context = await openContext({ ...options, role: 'worker' }, supply, () => '');
  let probes: RunningServer | null = null;
  try {
    probes = await listenForProbes(context, options);
    const workers = await startBackground(context);
    const end = async () => {
      await Promise.all([probes?.close(), workers.stop()]);
      await context.closeEngines();
      await closeStores(context);
    };
    let ended: Promise<void> | null = null;
    return {
      id: workers.owner,
      metricsUrl: probes?.origin ?? null,
      ...createNodeControl(context, workers, options),
      close() {
        ended ??= end();
        return ended;
      },
    };
  } catch (error) {
    await probes?.close();
    await closeStores(context);
    throw error;
  }
}

/** Answers probes of a worker, also while its engines load. Returns null if no port was chosen for them. */
async function listenForProbes(
  context: ServiceContext,
  options: ServiceOptions,
): Promise<RunningServer | null> {
  const { metricsPort: port, metricsHost: host = '127.0.0.1', metricsFrom = null } = options;
  if (port === undefined) return null;
  const listen = { host, port, faults: null, trustedProxies: [], metricsFrom, onRequest: null };
  return startServer(context, { ...listen, part: 'probes' });
}

/** Shows and ends the work of a node. */
function createNodeControl(
  context: ServiceContext,
  workers: BackgroundWork,
  { shutdownDelayMs = 0, drainMs = 0 }: ServiceOptions,
): Pick<Service, 'readHealth' | 'drain'> {
  const { activity, clock } = context;
  let check: (() => Promise<NodeHealth>) | null = null;
  return {
    async readHealth() {
      check ??= createNodeHealth(context);
      return check();
    },
    async drain(hurry) {
      activity.state = 'closing';
      const late = new AbortController();
      const cancel = clock.schedule(drainMs, () => late.abort());
      const finish = drainMs === 0 ? null : workers.finish(AbortSignal.any([hurry, late.signal]));
      await Promise.all([sleepFor(clock, shutdownDelayMs, hurry), finish]);
      cancel();
    },
  };
}

async function closeStores({ store, nonces, stages, storage }: ServiceContext): Promise<void> {
  await store.close();
  await nonces.close();
  stages.close();
  storage.close();
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

/** Starts a service, without a control interface. */
export const startService: StartService = async (options, supply) => {
  let origin = '';
  const context = await openContext(options, supply, () => context.config.publicOrigin ?? origin);
  try {
    const server = await listen(context, options);
    origin = server.origin;
    const newKey = await openAccount(context, options).catch(async (error: unknown) => {
      await server.close();
      throw error;
    });
    const workers = await startBackground(context);
    const end = async () => {
      await Promise.all([server.close(), workers.stop()]);
      await context.closeEngines();
      await closeStores(context);
    };
    let ended: Promise<void> | null = null;
    const service: Service = {
      url: context.origin() + VERSION_PREFIX,
      docsUrl: context.origin() + DOCS_PATH,
      newKey,
      control: null,
      ...createAccountAdmin(context),
      ...createNodeControl(context, workers, options),
      readProvenance: async (jobId) => (await readProvenance(context.store, jobId)) ?? null,
      close() {
        ended ??= end();
        return ended;
      },
    };
    return { service, context };
  } catch (error) {
    await closeStores(context);
    throw error;
  }
};

function listen(context: ServiceContext, options: ServiceOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 0, faults = null, trustedProxies = [] } = options;
  const { metricsFrom = null, onRequest = null } = options;
  return startServer(context, { host, port, faults, trustedProxies, metricsFrom, onRequest });
}

type AccountAdmin = Pick<Service, 'keys' | 'issueKey' | 'dropKey' | 'changeKey' | 'grantCredits'>;

/** Changes to the account that the owner of a running service can make. */
function createAccountAdmin({ store, clock, randomBytes, makeId }: ServiceContext): AccountAdmin {
  return {
    keys: () => listKeys(store),
    issueKey: (rules = {}) => issueKey(store, rules, clock.now(), randomBytes),
    dropKey: (key) => dropKey(store, key),
    changeKey: (key, rules) => changeKey(store, key, rules, clock.now()),
    grantCredits: ({ credits, expiresAt = null }) =>
      store.transaction((tx) => grantCredits(tx, { credits, expiresAt }, clock.now(), makeId)),
  };
}

/** The parts that nodes of one service share: in the state folder, or in a database. */
async function openAccountParts(
  {
    database,
    storage,
    clock: base = systemClock,
    onStoreFailure,
    onUpgrade = () => undefined,
  }: ServiceOptions,
  folders: Folders,
  { rate }: ServiceConfig,
): Promise<Pick<ServiceContext, 'store' | 'nonces' | 'rate' | 'clock'>> {
  if (database === undefined) {
    const store = openAccountStore(folders, { onFailure: onStoreFailure, onUpgrade });
    const nonces = openNonceMemory(join(folders.root, 'nonces.sqlite'));
    return { store, nonces, rate: createRateLimiter(rate), clock: base };
  }
  const { openPostgresAccount } = await import('./store/open-postgres.ts');
  // A node with storage elsewhere has a folder of its own.
  const root = storage === undefined ? folders.root : null;
  const opened = await openPostgresAccount(database, root, systemClock.now, onUpgrade);
  const { clock, stop } = await followDatabase(base, () => readDatabaseTime(opened)).catch(
    async (error: unknown) => {
      await opened.close();
      throw error;
    },
  );
  const store = {
    ...opened,
    async close() {
      await stop();
      await opened.close();
    },
  };
  return {
    store,
    clock,
    nonces: createSharedNonces(store),
    rate: createRateLimiter(rate, createSharedCounter(store)),
  };
}

/** On one machine, one process answers requests and carries out jobs. */
function needsDatabaseFailure(role: Role): Failure {
  return configurationFailure(
    'ROLE_WITHOUT_DATABASE',
    `a process with the role ${role} needs a database, in which it finds the others`,
    'Name it with --database or VLOC_DATABASE, or leave out the role.',
  );
}

function idleWorkerFailure(): Failure {
  return configurationFailure(
    'SETTINGS_INVALID',
    'a worker whose setting "workers" is 0 carries out no jobs',
    'Leave the setting out: the default is the number of cores.',
  );
}

/** A bucket that may be used, or null for the state folder. @throws Failure before anything is changed */
async function openBucketOf({
  storage,
  database,
  env = process.env,
}: ServiceOptions): Promise<OpenBucket | null> {
  if (storage === undefined) return null;
  if (database === undefined) {
    throw configurationFailure(
      'STORAGE_WITHOUT_DATABASE',
      'the storage is a bucket, and the account is in the state folder, which other machines do not see',
      'Name a PostgreSQL database too, with --database or VLOC_DATABASE, or omit the storage.',
    );
  }
  const { openCheckedBucket } = await import('./storage/open-s3.ts');
  return openCheckedBucket(storage, env);
}

async function openContext(
  options: ServiceOptions,
  supply: EngineSupply,
  origin: () => string,
): Promise<ServiceContext> {
  const { random: randomBytes = systemRandom, log = () => {}, onStuck = () => {} } = options;
  const { allowLoopback = options.config?.allowLoopback ?? DEFAULT_CONFIG.allowLoopback } = options;
  const { role = 'all', database } = options;
  if (role !== 'all' && database === undefined) throw needsDatabaseFailure(role);
  const chosen = { ...withDefaults(DEFAULT_CONFIG, options.config), allowLoopback };
  const config = role === 'api' ? { ...chosen, workers: 0 } : chosen;
  if (role === 'worker' && config.workers === 0) throw idleWorkerFailure();
  const { folders, loose } = await prepareFolders(options.stateDir);
  if (loose) log({ level: 'warn', message: `others may read ${folders.root}; run chmod 700 on it` });
  const bucket = await openBucketOf(options);
  const onUpgrade = options.onUpgrade ?? ((message: string) => log({ level: 'info', message }));
  const { store, nonces, rate, clock } = await openAccountParts(
    { ...options, onUpgrade },
    folders,
    config,
  ).catch((error: unknown) => {
    bucket?.bucket.close();
    throw error;
  });
  const base = options.clock ?? systemClock;
  // The time of the database, without what a test has moved: storage has the same.
  const realTime = () => systemClock.now() + clock.now() - base.now();
  const nextId = createIdMaker(createFractions(randomBytes));
  const links = createLinkSigner(await ensureSecret(store, 'links', randomBytes));
  const stages = createStageCache({
    root: folders.stages,
    path: join(folders.root, 'stages.sqlite'),
    maxBytes: config.stageCacheBytes,
    ...{ clock, log },
  });
  return {
    clock,
    config,
    folders,
    store,
    role,
    isShared: database !== undefined,
    storage:
      bucket === null
        ? createFolderStorage(folders, links, origin)
        : await bucket.open({ store, root: folders.root, clock, now: realTime, log }),
    scratch: createScratch(folders.work, stages.empty),
    activity: {
      node: '',
      jobs: () => ({ running: 0, takenOver: 0, hasRoom: true }),
      state: 'starting',
      announcedAt: null,
      capabilities: () => null,
    },
    commitTogether: createCommitTogether(store),
    stages,
    nonces,
    rate,
    links,
    cursors: createCursorSealer(await ensureSecret(store, 'cursors', randomBytes), randomBytes),
    randomBytes,
    log,
    onStuck,
    signals: new EventEmitter<Signals>(),
    makeId: (subject) => nextId(subject, clock.now()),
    ...supply,
    origin,
  };
}

/** @param given the engines of the caller; default: those of this machine, loaded at first use */
export function createEngineLoader(given: Engines | undefined, log: Log = () => {}): EngineSupply {
  let loaded: Promise<Engines> | null = given === undefined ? null : Promise.resolve(given);
  return {
    engines() {
      loaded ??= import('../engines/index.ts').then((module) => module.createEngines());
      return loaded;
    },
    async closeEngines() {
      try {
        await (await loaded)?.close?.();
      } catch (error) {
        log({ level: 'warn', message: 'the engines did not close', error });
      }
    },
  };
}

/**
 * On the first start, creates and returns the key and adds the opening credits. If two processes start together, only
 * one does it. Called after the service listens: the key is shown only once, so a failed start must not create it.
 */
async function openAccount(
  context: ServiceContext,
  { wantsFirstKey = () => true }: ServiceOptions,
): Promise<IssuedKey | null> {
  const { store, clock, config, randomBytes, makeId } = context;
  const newKey = await store.transaction(async (tx) => {
    // Checked separately: the operator may have created a key before the first start.
    const isMissing = async (table: 'keys' | 'grants') =>
      (await tx.get(`SELECT 1 FROM ${table} LIMIT 1`)) === undefined;
    const makesKey = (await isMissing('keys')) && wantsFirstKey();
    const newKey = makesKey ? await issueKey(tx, {}, clock.now(), randomBytes) : null;
    const credits = config.openingCredits;
    if (credits > 0 && (await isMissing('grants'))) {
      await grantCredits(tx, { credits, expiresAt: null }, clock.now(), makeId);
    }
    return newKey;
  });
  return newKey;
}
