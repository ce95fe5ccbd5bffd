/** Starts the embedded service with its control interface, through which the rules get the access of an operator. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createService, type Faults } from '../../../src/service/index.ts';
import { type ControlledRun, openControlled } from '../control.ts';
import type { Supplies } from '../service.ts';
import type { Receiver } from '../webhooks.ts';
import { createHarnessEngines } from './engines.ts';

/**
 * The service runs in the same process and answers in milliseconds, but reading a video of a quarter of an hour takes
 * long on a busy machine. Rules that must fail do not wait for an event that never happens.
 */
const PATIENCE = { everyMs: 5, atMostMs: 120_000, withLimits: false };
const SHORT_PATIENCE = { ...PATIENCE, atMostMs: 20_000 };

/** Supplies that the harness cannot create itself. */
interface HarnessSupplies extends Pick<Supplies, 'media' | 'mediaUrl' | 'ffmpeg'> {
  readonly receiver: Receiver | null;
  /** Simulates faults on the network. */
  readonly faults?: Faults;
  /** Address of a PostgreSQL database; omitted: the account is in the state folder. */
  readonly database?: string;
  /** Address of a bucket and its credentials; omitted: uploads and results are in the state folder. */
  readonly storage?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Opens a workspace with plenty of credits. */
export async function startEmbedded({
  receiver,
  faults,
  database,
  storage,
  env,
  ...supplies
}: HarnessSupplies): Promise<ControlledRun> {
  const stateDir = await mkdtemp(join(tmpdir(), 'conformance-state-'));
  const { control, close } = await createService({
    stateDir,
    engines: createHarnessEngines(),
    control: true,
    ...(faults === undefined ? {} : { faults }),
    ...(database === undefined ? {} : { database }),
    ...(storage === undefined ? {} : { storage }),
    ...(env === undefined ? {} : { env }),
  });
  if (control === null) throw new Error('the service has no control interface');
  const run = await openControlled({
    control,
    headerPrefix: 'X-Service',
    strict: true,
    languages: { source: 'en', target: 'es' },
    supplies: { ...supplies, jobs: true },
    receiver,
    patience: faults === undefined ? PATIENCE : SHORT_PATIENCE,
  });
  return {
    service: run.service,
    async close() {
      await close();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
