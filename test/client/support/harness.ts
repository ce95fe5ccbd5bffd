import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import {
  type Client,
  type ClientEvent,
  type ClientOptions,
  createClient,
  Failure,
} from '../../../src/client/index.ts';
import { createFakeRuntime, type FakeRuntime } from './fake-runtime.ts';
import { type Reply, type ScriptedServer, startServer } from './scripted-server.ts';

export const SECRET = 'secret-canary-5f1d';

export interface Harness {
  readonly server: ScriptedServer;
  readonly client: Client;
  readonly runtime: FakeRuntime;
  readonly events: ClientEvent[];
}

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Runs when the test ends. */
export function onCleanup(cleanup: () => Promise<void>): void {
  cleanups.push(cleanup);
}

/** A client, with a clock of its own, at a scripted server; both end with the test. */
export async function startHarness(
  options: Partial<ClientOptions> & { fallback?: Reply; fake?: FakeRuntime } = {},
): Promise<Harness> {
  const { fallback, fake: runtime = createFakeRuntime(), ...rest } = options;
  const server = await startServer(fallback);
  const events: ClientEvent[] = [];
  const client = createClient({
    baseUrl: server.baseUrl,
    key: 'key_test',
    secret: SECRET,
    runtime,
    onEvent: (event) => events.push(event),
    ...rest,
  });
  onCleanup(server.close);
  onCleanup(client.close);
  return { server, client, runtime, events };
}

/** A folder of its own for one test. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vloc-client-'));
  onCleanup(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The Failure that work ends with; anything else fails the test. */
export async function failureOf(work: Promise<unknown>): Promise<Failure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('it succeeded, and should not have');
}
