/** Everything that outlives the killed processes: folders, callers' book, receiver, time. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileOf, makeCertificate } from '../support/certificates.ts';
import { type Book, openBook } from './book.ts';
import { type Life, startLife } from './life.ts';
import type { Orders } from './orders.ts';
import { createRandom, type Random } from './random.ts';

export interface World {
  /** This path in their environment distinguishes the children of the services from others. */
  readonly root: string;
  readonly stateDir: string;
  readonly random: Random;
  readonly book: Book;
  readonly receiver: Receiver;
  /** A video of 3 s with speech. */
  readonly clip: Buffer;
  /** Starts a process on the state folder; each one lives longer after the last than a lease. */
  start(orders?: Partial<Orders>, launcher?: readonly string[]): Life;
  /** Takes note of how far time has gone. */
  end(life: Life): void;
  close(): void;
}

/** One second beyond the longest lease of a process that died. */
const BETWEEN_LIVES_MS = 16_000;
/** Enough that callers are seldom refused, few enough that they are worked off soon. */
const OPEN_JOBS = 30;
/** Light work leaves the processor alone. */
const WORKERS = 4;

export interface WorldOptions {
  readonly seed: number;
  /** Folder of the state. Default: a folder of its own that is removed with the world. */
  readonly stateDir?: string;
}

export async function makeWorld({ seed, stateDir }: WorldOptions): Promise<World> {
  const root = mkdtempSync(join(tmpdir(), 'vloc-torture-'));
  const temporary = join(root, 'tmp');
  mkdirSync(temporary);
  const random = createRandom(seed);
  const receiver = await startReceiver(root, random);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? root,
    TMPDIR: temporary,
    NODE_EXTRA_CA_CERTS: receiver.certificate,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
  };
  let aheadMs = 0;
  let clip: Buffer | undefined;
  return {
    root,
    stateDir: stateDir ?? join(root, 'state'),
    random,
    book: openBook(),
    receiver,
    get clip() {
      clip ??= cutClip(join(root, 'clip.mp4'));
      return clip;
    },
    start(orders = {}, launcher = []) {
      const common = { engines: 'mixed', openJobs: OPEN_JOBS, workers: WORKERS, faults: 0 } as const;
      const place = { stateDir: stateDir ?? join(root, 'state'), aheadMs };
      const given = { ...common, ...place, seed: random.between(1, 2 ** 31), ...orders };
      return startLife(given, { env, launcher });
    },
    end(life) {
      aheadMs = Math.max(aheadMs, life.now() - Date.now()) + BETWEEN_LIVES_MS;
    },
    close() {
      receiver.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** One sentence of the sample video, small. */
function cutClip(path: string): Buffer {
  const sample = join(import.meta.dirname, '../fixtures/sample.mp4');
  const cut = ['-ss', '9', '-i', sample, '-t', '3', '-vf', 'scale=160:90', '-c:v', 'libx264', '-c:a', 'aac'];
  execFileSync('ffmpeg', ['-v', 'error', ...cut, path]);
  return readFileSync(path);
}

interface Heard {
  readonly eventId: string;
  readonly status: string;
}

interface Receiver {
  readonly url: string;
  /** File with the certificate that the service must trust. */
  readonly certificate: string;
  /** The events of each job that were answered with success, by job id. */
  readonly heard: ReadonlyMap<string, readonly Heard[]>;
  close(): void;
}

/** Shares of the deliveries that are refused, and that break off without an answer. */
const REFUSED = 0.03;
const BROKEN = 0.02;

const LOOPBACK = 'IP:127.0.0.1';

/** A receiver of webhooks that is not always well. @param folder where its key and certificate go */
async function startReceiver(folder: string, random: Random): Promise<Receiver> {
  const made = makeCertificate(folder, LOOPBACK);
  const heard = new Map<string, Heard[]>();
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const event = JSON.parse(await text(request));
    if (random.chance(BROKEN)) return request.destroy();
    if (random.chance(REFUSED)) return response.writeHead(503).end();
    const told = heard.get(event.data.id) ?? [];
    told.push({ eventId: event.id, status: event.data.status });
    heard.set(event.data.id, told);
    return response.writeHead(204).end();
  };
  const server = createServer(made);
  // The sender may be killed while it sends.
  server.on('request', (request, response) => void take(request, response).catch(() => request.destroy()));
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return {
    url: `https://127.0.0.1:${port}/hook`,
    certificate: fileOf(folder, LOOPBACK),
    heard,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
