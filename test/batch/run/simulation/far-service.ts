/** The far end of the simulation: a model of a service, reached over real HTTP with a delay. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Work } from '../../../client/simulation/work.ts';
import { answerAt, type Counts, createFarEnd, type FarEnd } from './far-end.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface FarService extends Pick<FarEnd, 'jobs' | 'toldMs'> {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly counts: Counts;
  close(): Promise<void>;
}

/** There or back. Source: performance figures, "Waiting": 0.1 s for both. */
const TRAVEL_MS = 50;

export async function startFarService(
  work: readonly Work[],
  slots: number,
  time: VirtualTime,
): Promise<FarService> {
  const far = createFarEnd(work, slots, TRAVEL_MS);

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const body = Buffer.concat(await request.toArray());
    await time.travel(TRAVEL_MS);
    const key = String(headers['idempotency-key'] ?? '');
    const asked = { method, url: new URL(url, 'http://far'), key, body, nowMs: time.now() };
    const reply = answerAt(far, asked);
    await time.travel(TRAVEL_MS);
    const bytes = Buffer.isBuffer(reply.body) ? reply.body : Buffer.from(JSON.stringify(reply.body));
    const type = Buffer.isBuffer(reply.body) ? 'video/mp4' : 'application/json';
    response.writeHead(reply.status, {
      'content-type': type,
      'content-length': bytes.length,
      ...reply.headers,
    });
    response.end(bytes);
  }

  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    jobs: far.jobs,
    toldMs: far.toldMs,
    counts: far.counts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
