/** Fetching from an address outside into a folder of its own, and a server that answers as instructed. */
import { readdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createMovableClock } from '../../../src/service/control/clock.ts';
import { fetchSource } from '../../../src/service/jobs/fetch-source.ts';
import type { OutgoingNetwork } from '../../../src/service/outgoing/request.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { networkWith, type Outside, startPlain } from '../outgoing/outside.ts';

export async function makeTarget(): Promise<{ folder: string; path: string }> {
  const folder = makeFolder();
  return { folder, path: join(folder, 'source') };
}

export interface FetchOptions {
  readonly network?: OutgoingNetwork;
  readonly refusedSize?: number;
  readonly signal?: AbortSignal;
  readonly clock?: ReturnType<typeof createMovableClock>;
}

export async function fetchTo(path: string, address: string, options: FetchOptions = {}): Promise<void> {
  const { signal } = new AbortController();
  const given = { network: networkWith(), clock: createMovableClock(), signal, ...options };
  await fetchSource(address, 'source_video', path, given);
}

/** The failure of a fetch, after a look that nothing was left behind. */
export async function failureOf(address: string, options: FetchOptions = {}) {
  const { folder, path } = await makeTarget();
  const failure = await fetchTo(path, address, options).then(
    () => null,
    (error) => error,
  );
  expect(await readdir(folder)).toEqual([]);
  return failure;
}

export const serve = (
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<Outside> => startPlain((request, response) => answer(response, request));
