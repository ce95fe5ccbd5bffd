import { onTestFinished } from 'vitest';
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
  onTestFinished(server.close);
  onTestFinished(client.close);
  return { server, client, runtime, events };
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
