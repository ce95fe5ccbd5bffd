/** The process of the simulated service: answers over HTTP at the times that the process of the client gives it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { drawWork } from '../../../client/simulation/work.ts';
import { answerAt, createFarEnd } from './far-end.ts';
import { type FarReport, type FarSetup, type ToFar, TRAVEL_MS } from './far-service.ts';

const { count, medianMs, progress, seed, slots }: FarSetup = JSON.parse(process.argv[2] ?? '');
const far = createFarEnd(drawWork(count, medianMs, progress, seed), slots, TRAVEL_MS);

const arrivals = new Map<number, (nowMs: number) => void>();
let trips = 0;

/** Returns the simulated time at which the message arrives. */
function travel(): Promise<number> {
  trips += 1;
  const trip = trips;
  process.send?.({ trip });
  return new Promise((resolve) => arrivals.set(trip, resolve));
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '', headers } = request;
  const body = Buffer.concat(await request.toArray());
  const nowMs = await travel();
  const key = String(headers['idempotency-key'] ?? '');
  const reply = answerAt(far, { method, url: new URL(url, 'http://far'), key, body, nowMs });
  await travel();
  const bytes = Buffer.isBuffer(reply.body) ? reply.body : Buffer.from(JSON.stringify(reply.body));
  const type = Buffer.isBuffer(reply.body) ? 'video/mp4' : 'application/json';
  response.writeHead(reply.status, {
    'content-type': type,
    'content-length': bytes.length,
    ...reply.headers,
  });
  response.end(bytes);
}

function report(): FarReport {
  const jobs = far.jobs.all.map(({ id, createdMs, work }) => {
    const toldMs = far.toldMs.get(id) ?? null;
    return { createdMs, endedMs: createdMs + work.ms, toldMs };
  });
  return { counts: far.counts, jobs };
}

process.on('message', (message: ToFar) => {
  if (message === 'report') {
    process.send?.(report());
    return;
  }
  arrivals.get(message.trip)?.(message.nowMs);
  arrivals.delete(message.trip);
});
process.on('disconnect', () => process.exit());

const server = createServer((request, response) => void handle(request, response));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo; // a TCP server has one
  process.send?.({ port });
});
