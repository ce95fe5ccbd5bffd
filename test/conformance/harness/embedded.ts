/** Starts the embedded service with its control interface, through which the rules get the access of an operator. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startControlled } from '../../../src/service/control/start.ts';
import { createService, type Service, type ServiceOptions } from '../../../src/service/index.ts';
import { createEngineLoader } from '../../../src/service/start.ts';
import { createRandom } from '../../client/simulation/random.ts';
import { type ControlledRun, openControlled } from '../control.ts';
import type { Supplies } from '../service.ts';
import type { Receiver } from '../webhooks.ts';
import { useFreshConnections } from '../wire/exchange.ts';
import { createHarnessEngines } from './engines.ts';
import { startNodes } from './nodes.ts';

/**
 * The service runs in the same process and answers in milliseconds, but reading a video of a quarter of an hour takes
 * long on a busy machine.
 */
const PATIENCE = { everyMs: 5, atMostMs: 120_000, withLimits: false };

/** Supplies that the harness cannot create itself. */
interface HarnessSupplies extends Pick<Supplies, 'media' | 'mediaUrl' | 'ffmpeg'> {
  readonly receiver: Receiver | null;
  /** Address of a PostgreSQL database; omitted: the account is in the state folder. */
  readonly database?: string;
  /** How many nodes share the database, and the seed of the choice of a node for each request. Default: one node. */
  readonly nodes?: { readonly count: number; readonly seed: number };
  /** Address of a bucket and its credentials; omitted: uploads and results are in the state folder. */
  readonly storage?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a service of several nodes. Each request goes to one of them at random. */
function startSeveral(
  options: ServiceOptions,
  { count, seed }: Required<HarnessSupplies>['nodes'],
): Promise<Service> {
  useFreshConnections();
  const supply = createEngineLoader(options.engines);
  return startControlled(options, supply, startNodes(count, createRandom(seed)));
}

/** Opens a workspace with plenty of credits. */
export async function startEmbedded({
  receiver,
  database,
  storage,
  env,
  nodes,
  ...supplies
}: HarnessSupplies): Promise<ControlledRun> {
  const stateDir = await mkdtemp(join(tmpdir(), 'conformance-state-'));
  const options = {
    stateDir,
    engines: createHarnessEngines(),
    control: true,
    ...(database === undefined ? {} : { database }),
    ...(storage === undefined ? {} : { storage }),
    ...(env === undefined ? {} : { env }),
  };
  const { control, close } = await (nodes === undefined
    ? createService(options)
    : startSeveral(options, nodes));
  if (control === null) throw new Error('the service has no control interface');
  const run = await openControlled({
    control,
    headerPrefix: 'X-Service',
    strict: true,
    languages: { source: 'en', target: 'es' },
    supplies: { ...supplies, jobs: true },
    receiver,
    patience: PATIENCE,
  });
  return {
    service: run.service,
    async close() {
      await close();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
