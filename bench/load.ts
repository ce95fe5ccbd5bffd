/** The load that a public service must handle: idle and slow connections, guessed keys, and very many nonces. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '../src/protocol/limits.ts';
import type { Figure } from './figure.ts';
import { median, quantile } from './measure.ts';
import { openConnections, type Reply } from './service/connections.ts';
import { signedBytes } from './service/sign.ts';
import { type RunningServe, type RunningService, startServe, startService } from './service/start.ts';

const CREDITS = { method: 'GET', path: '/v1/credits' } as const;

export async function measureLoad(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const stateDir = join(folder, 'state');
  const service = await startService(stateDir);
  try {
    return [
      await measureSlowSockets(service),
      await measureGuesses(service),
      await measureNonces(service, stateDir),
      ...(await measureMemory(folder)),
    ];
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
}

const SLOW_SOCKETS = 1000;
const SLOW_SECONDS = 20;
/** A normal client at the same time: ten concurrent requests, ten times per second. */
const HONEST_CONNECTIONS = 10;
const HONEST_PAUSE_MS = 100;

/** Half of the sockets send nothing, the others one byte of a header per second. Closed sockets are reopened. */
async function measureSlowSockets(service: RunningService): Promise<Figure> {
  const sockets = new Set<Socket>();
  let over = false;
  const open = (talks: boolean) => {
    const socket = connect(service.port, '127.0.0.1');
    const timer = talks ? setInterval(() => socket.write('x'), 1000) : undefined;
    sockets.add(socket);
    if (talks) socket.write('GET /v1/credits HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    socket.on('error', () => {}).resume();
    socket.on('close', () => {
      clearInterval(timer);
      sockets.delete(socket);
      if (!over) open(talks);
    });
    return socket;
  };
  const opened = Array.from({ length: SLOW_SOCKETS }, (_, at) => once(open(at % 2 === 0), 'connect'));
  await Promise.all(opened);

  const honest = await openConnections(service.port, HONEST_CONNECTIONS);
  const latencies: number[] = [];
  const until = performance.now() + SLOW_SECONDS * 1000;
  while (performance.now() < until) {
    const requests = Array.from({ length: HONEST_CONNECTIONS }, () => signedBytes(service.target, CREDITS));
    const { replies } = await honest.send(requests);
    expectStatus(replies, 200);
    latencies.push(...replies.map(({ ms }) => ms));
    await sleep(HONEST_PAUSE_MS);
  }
  over = true;
  honest.close();
  for (const socket of sockets) socket.destroy();
  return {
    name: `p99 of \`GET /credits\` beside ${SLOW_SOCKETS} idle and slow sockets, ${SLOW_SECONDS} s`,
    value: quantile(latencies, 0.99),
    unit: 'ms',
    limit: { atMost: 200 },
  };
}

const GUESSES = 2000;
const GUESS_WARM_UP = 200;

/**
 * Sends unknown keys and wrong signatures alternately over one connection, so that both are measured under the same
 * conditions.
 */
async function measureGuesses({ port, target }: RunningService): Promise<Figure> {
  const connection = await openConnections(port, 1);
  const unknownKey = { ...target, key: `${target.key.slice(0, -1)}${target.key.endsWith('A') ? 'B' : 'A'}` };
  const wrongSecret = { ...target, secret: `${target.secret.slice(1)}A` };
  const requests = Array.from({ length: 2 * (GUESS_WARM_UP + GUESSES) }, (_, at) =>
    signedBytes(at % 2 === 0 ? unknownKey : wrongSecret, CREDITS),
  );
  const { replies } = await connection.send(requests);
  connection.close();
  expectStatus(replies, 401);
  const measured = replies.slice(2 * GUESS_WARM_UP);
  const medianOf = (parity: number) =>
    median(measured.filter((_, at) => at % 2 === parity).map(({ ms }) => ms));
  return {
    name: `median time for an unknown key and a wrong signature, ${GUESSES} each: difference`,
    value: 100 * Math.abs(medianOf(0) / medianOf(1) - 1),
    unit: '%',
    limit: { atMost: 5 },
  };
}

const REQUESTS = 500_000;
/** Requests until the heap, SQLite's caches and the log of the store have reached their final size. */
const WARM_UP_REQUESTS = 100_000;
const REQUESTS_A_ROUND = 5000;
const REQUEST_CONNECTIONS = 50;

async function sendMany({ port, target }: RunningServe, count: number): Promise<void> {
  const connections = await openConnections(port, REQUEST_CONNECTIONS);
  for (let sent = 0; sent < count; sent += REQUESTS_A_ROUND) {
    const requests = Array.from({ length: REQUESTS_A_ROUND }, () => signedBytes(target, CREDITS));
    expectStatus((await connections.send(requests)).replies, 200);
  }
  connections.close();
}

/** Measures `vloc serve`, because only the command limits the heap of its process. */
async function measureMemory(folder: string): Promise<Figure[]> {
  const serve = await startServe(folder);
  try {
    const idle = serve.residentMiB();
    await sendMany(serve, WARM_UP_REQUESTS);
    const before = serve.residentMiB();
    await sendMany(serve, REQUESTS);
    const after = serve.residentMiB();
    return [
      { name: 'memory of `vloc serve` before the first request', value: idle, unit: 'MiB' },
      { name: `the same after ${WARM_UP_REQUESTS + REQUESTS} requests`, value: after, unit: 'MiB' },
      {
        name: `memory that the last ${REQUESTS} of them add`,
        value: after - before,
        unit: 'MiB',
        limit: { atMost: 20 },
      },
    ];
  } finally {
    await serve.stop();
  }
}

/** As many as a busy key sends before the first nonce expires. */
const NONCES = 100_000;

async function measureNonces(service: RunningService, stateDir: string): Promise<Figure> {
  await sendMany(service, NONCES);
  const kept = countNonces(stateDir);
  service.advance((LIMITS.nonceMemorySeconds + 1) * 1000);
  // Answered after the sweep, because both run in the same thread.
  await sleep(HONEST_PAUSE_MS);
  await fetchHealth(service.port);
  if (kept === 0) throw new Error('no nonce was stored');
  return {
    name: `nonces left of ${kept} after the sweep that follows their expiry`,
    value: countNonces(stateDir),
    unit: '',
    limit: { atMost: 0 },
  };
}

async function fetchHealth(port: number): Promise<void> {
  const connection = await openConnections(port, 1);
  await connection.send([Buffer.from('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')]);
  connection.close();
}

function countNonces(stateDir: string): number {
  const store = new DatabaseSync(join(stateDir, 'nonces.sqlite'), { readOnly: true });
  const row = store.prepare('SELECT count(*) AS count FROM nonces').get();
  store.close();
  return Number(row?.count);
}

function expectStatus(replies: readonly Reply[], status: number): void {
  const other = replies.find((reply) => reply.status !== status);
  if (other !== undefined) throw new Error(`an answer was wrong:\n${other.head}\n\n${other.body}`);
}
