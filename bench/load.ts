/** The load that a public service must handle: idle and slow connections, guessed keys, and very many requests. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ANY_TIME_MS, type Figure, NODE_MEMORY_MIB } from './figure.ts';
import { median, quantile } from './measure.ts';
import { openConnections, type Reply } from './service/connections.ts';
import { signedBytes } from './service/sign.ts';
import { type RunningService, startServe, startService } from './service/start.ts';

/** Half of the sockets send nothing; guesses are of each kind; requests until the memory is stable, and those that are measured. */
const FULL = { sockets: 1000, seconds: 10, guesses: 2000, warmUp: 50_000, requests: 200_000 };
const SHORT: Size = { sockets: 50, seconds: 1, guesses: 50, warmUp: 500, requests: 1500 };
type Size = typeof FULL;

const CREDITS = { method: 'GET', path: '/v1/credits' } as const;

export async function measureLoad(isShort: boolean): Promise<readonly Figure[]> {
  const size = isShort ? SHORT : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const service = await startService(join(folder, 'state'));
  try {
    return [
      await measureSlowSockets(service, size),
      await measureGuesses(service, size),
      ...(await measureMemory(folder, size)),
    ];
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
}

/** A normal client at the same time: ten concurrent requests, ten times per second. */
const HONEST_CONNECTIONS = 10;
const HONEST_PAUSE_MS = 100;

/** Half of the sockets send nothing, the others one byte of a header per second. Closed sockets are reopened. */
async function measureSlowSockets(
  service: RunningService,
  { sockets: count, seconds }: Size,
): Promise<Figure> {
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
  const opened = Array.from({ length: count }, (_, at) => once(open(at % 2 === 0), 'connect'));
  await Promise.all(opened);

  const honest = await openConnections(service.port, HONEST_CONNECTIONS);
  const latencies: number[] = [];
  const until = performance.now() + seconds * 1000;
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
    name: `p99 of \`GET /credits\` beside ${count} idle and slow sockets, ${seconds} s`,
    value: quantile(latencies, 0.99),
    unit: 'ms',
    limit: { atMost: 200 },
    plausible: ANY_TIME_MS,
  };
}

const GUESS_WARM_UP = 200;

/**
 * Sends unknown keys and wrong signatures alternately over one connection, so that both are measured under the same
 * conditions.
 */
async function measureGuesses({ port, target }: RunningService, { guesses }: Size): Promise<Figure> {
  const connection = await openConnections(port, 1);
  const unknownKey = { ...target, key: `${target.key.slice(0, -1)}${target.key.endsWith('A') ? 'B' : 'A'}` };
  const wrongSecret = { ...target, secret: `${target.secret.slice(1)}A` };
  const requests = Array.from({ length: 2 * (GUESS_WARM_UP + guesses) }, (_, at) =>
    signedBytes(at % 2 === 0 ? unknownKey : wrongSecret, CREDITS),
  );
  const { replies } = await connection.send(requests);
  connection.close();
  expectStatus(replies, 401);
  const measured = replies.slice(2 * GUESS_WARM_UP);
  const medianOf = (parity: number) =>
    median(measured.filter((_, at) => at % 2 === parity).map(({ ms }) => ms));
  return {
    name: `median time for an unknown key and a wrong signature, ${guesses} each: difference`,
    value: 100 * Math.abs(medianOf(0) / medianOf(1) - 1),
    unit: '%',
    limit: { atMost: 5 },
    plausible: [0, 10_000],
  };
}

const REQUESTS_A_ROUND = 5000;
const REQUEST_CONNECTIONS = 50;

async function sendMany({ port, target }: RunningService, count: number): Promise<void> {
  const connections = await openConnections(port, REQUEST_CONNECTIONS);
  for (let sent = 0; sent < count; sent += REQUESTS_A_ROUND) {
    const requests = Array.from({ length: Math.min(REQUESTS_A_ROUND, count - sent) }, () =>
      signedBytes(target, CREDITS),
    );
    expectStatus((await connections.send(requests)).replies, 200);
  }
  connections.close();
}

/** Measures `vloc serve`, because only the command limits the heap of its process. */
async function measureMemory(folder: string, { warmUp, requests }: Size): Promise<Figure[]> {
  const serve = await startServe(folder);
  try {
    const idle = serve.residentMiB();
    await sendMany(serve, warmUp);
    const before = serve.residentMiB();
    await sendMany(serve, requests);
    const after = serve.residentMiB();
    return [
      {
        name: 'memory of `vloc serve` before the first request',
        value: idle,
        unit: 'MiB',
        plausible: NODE_MEMORY_MIB,
      },
      {
        name: `the same after ${warmUp + requests} requests`,
        value: after,
        unit: 'MiB',
        plausible: NODE_MEMORY_MIB,
      },
      {
        name: `memory that the last ${requests} of them add`,
        value: after - before,
        unit: 'MiB',
        limit: { atMost: 20 },
        // A collection of garbage may return memory.
        plausible: [-500, 16_384],
      },
    ];
  } finally {
    await serve.stop();
  }
}

function expectStatus(replies: readonly Reply[], status: number): void {
  const other = replies.find((reply) => reply.status !== status);
  if (other !== undefined) throw new Error(`an answer was wrong:\n${other.head}\n\n${other.body}`);
}
