/** What tests of the client for servers share. */
import * as v from 'valibot';
import { onTestFinished } from 'vitest';
import { createServer as connect, jsonBody, type Server } from '../../../src/engines/backends/http.ts';
import type { BackendParts } from '../../../src/engines/backends/parts.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { recordedParts } from './loopback-server.ts';

interface Options {
  readonly entry?: Partial<Parameters<typeof connect>[0]>;
  readonly parts?: BackendParts;
  readonly keyIn?: 'header' | 'caller';
}

/** A client that ends with the test. */
export function client(
  url: string,
  { entry = {}, parts = recordedParts(), keyIn = 'header' }: Options = {},
): Server {
  const server = connect({ url, ...entry }, { name: 'openai tiny', timeout: 60, keyIn }, parts);
  onTestFinished(() => server.close());
  return server;
}

function run(signal = new AbortController().signal) {
  return { signal, folder: makeFolder() };
}

/** The job failure that a call ends with. */
export async function failureOf(promise: Promise<unknown>): Promise<JobFailure> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof JobFailure) return error;
  throw new Error('no job failure', { cause: error });
}

const Ok = v.object({ ok: v.boolean() });
/** Asks a question whose answer is `{ ok }`. */
export const ask = (server: Server, signal?: AbortSignal) =>
  server.sendForJson({ path: '/ask', body: jsonBody({ question: 1 }) }, Ok, run(signal));
