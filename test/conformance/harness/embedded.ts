/** Starts the embedded service with its control interface, through which the rules get the access of an operator. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startControlled } from '../../../src/service/control/start.ts';
import { createService, type Service, type ServiceOptions } from '../../../src/service/index.ts';
import { createEngineLoader } from '../../../src/service/start.ts';
import { createRandom } from '../../client/simulation/random.ts';
import type { Means, Supplies } from '../service.ts';
import type { Receiver } from '../webhooks.ts';
import { useFreshConnections } from '../wire/exchange.ts';
import { type ControlledRun, openControlled, type StartedService } from './control.ts';
import { createHarnessEngines } from './engines.ts';
import { startNodes } from './nodes.ts';

/**
 * The service runs in the same process and answers in milliseconds, but reading a video of a quarter of an hour takes
 * long on a busy machine.
 */
const PATIENCE = { everyMs: 5, atMostMs: 120_000, withLimits: false };

const HEADER_PREFIX = 'X-Service';

/** Supplies that the harness cannot create itself. */
interface HarnessSupplies extends Pick<Supplies, 'media' | 'mediaUrl' | 'ffmpeg'> {
  readonly receiver: Receiver | null;
  /** Address of a PostgreSQL database that ends with the name of a schema; omitted: the accounts are in state folders. */
  readonly database?: string;
  /** How many nodes the service of the run has, and the seed of the choice of a node for each request. Default: one node. */
  readonly nodes?: { readonly count: number; readonly seed: number };
  /** Address of a bucket and its credentials; omitted: uploads and results are in the state folder. */
  readonly storage?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const HOUR_SECONDS = 3600;

/** Nodes of the services of single rules: a request goes to another node than the one before, or to the same. */
const NODES_OF_A_RULE = 2;

/** Options of a service for a rule. */
function optionsOf({ credits, planEnded, requests, idle, loopback = false }: Means) {
  const config = {
    headerPrefix: HEADER_PREFIX,
    ...(credits === undefined ? {} : { openingCredits: credits }),
    // Any time in the past.
    ...(planEnded === true ? { planEndsAt: 0 } : {}),
    ...(requests === undefined ? {} : { rate: { requests, windowSeconds: HOUR_SECONDS } }),
    ...(idle === true ? { workers: 0 } : {}),
  };
  return { config, allowLoopback: loopback, control: true };
}

/** Starts a service of several nodes. Each request goes to one of them at random. */
function startSeveral(options: ServiceOptions, count: number, random: () => number): Promise<Service> {
  const supply = createEngineLoader(options.engines);
  return startControlled(options, supply, startNodes(count, random));
}

/** Starts the service of a run. */
export async function startEmbedded({
  receiver,
  database,
  storage,
  env,
  nodes,
  ...supplies
}: HarnessSupplies): Promise<ControlledRun> {
  const root = await mkdtemp(join(tmpdir(), 'conformance-state-'));
  const random = createRandom(nodes?.seed ?? 0);
  if (nodes !== undefined) useFreshConnections();
  let started = 0;
  const start = async (means: Means): Promise<StartedService> => {
    started += 1;
    const name = `service_${started}`;
    const options = {
      ...optionsOf(means),
      stateDir: join(root, name),
      engines: createHarnessEngines(),
      ...(database === undefined ? {} : { database: `${database}_${started}` }),
      ...(storage === undefined ? {} : { storage: withFolder(storage, name) }),
      ...(env === undefined ? {} : { env }),
    };
    const { url, control, newKey, close } = await (nodes === undefined
      ? createService(options)
      : startSeveral(options, started === 1 ? nodes.count : NODES_OF_A_RULE, random));
    if (control === null || newKey === null)
      throw new Error('the service has no control interface or no key');
    const { webhookSecret, ...credentials } = newKey;
    return { baseUrl: url, control, credentials, webhookSecret, close };
  };
  const run = await openControlled({
    start,
    headerPrefix: HEADER_PREFIX,
    strict: true,
    languages: { source: 'en', target: 'es' },
    supplies: { ...supplies, jobs: true },
    receiver,
    patience: PATIENCE,
  });
  return {
    service: run.service,
    async close() {
      await run.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** A folder in the same bucket. */
function withFolder(address: string, folder: string): string {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${folder}`;
  return url.href;
}
