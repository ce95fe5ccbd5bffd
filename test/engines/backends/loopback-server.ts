/** What tests of servers share: a server on loopback that answers as the test says, and records what it got. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { BackendParts } from '../../../src/engines/backends/parts.ts';
import { createParts } from './user-program.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Answered {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes and text are sent as they are, other values as JSON. */
  readonly body?: unknown;
}

/** An answer, or what is done with the connection. `number` counts the requests from 1. */
type Behaviour = (request: Received, number: number) => Answered | ((response: ServerResponse) => void);

export interface LoopbackServer {
  readonly url: string;
  readonly received: readonly Received[];
  /** Connections that are open now. */
  readonly open: ReadonlySet<Socket>;
  /** Resolves when a request has arrived, or immediately if there was one. */
  readonly called: Promise<void>;
}

/** Starts a server that ends with the test. */
export async function startServer(behave: Behaviour): Promise<LoopbackServer> {
  const received: Received[] = [];
  const open = new Set<Socket>();
  const called = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const got = { method, path: url, headers, body: Buffer.concat(chunks) };
      received.push(got);
      called.resolve();
      const answer = behave(got, received.length);
      if (typeof answer === 'function') {
        answer(response);
        return;
      }
      const { status = 200, body = '' } = answer;
      const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
      response.writeHead(status, {
        ...(isRaw ? {} : { 'Content-Type': 'application/json' }),
        ...answer.headers,
      });
      response.end(isRaw ? body : JSON.stringify(body));
    });
    request.on('error', () => {});
  });
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a path
  return { url: `http://127.0.0.1:${port}/v1`, received, open, called: called.promise };
}

/** What backends are made with, with all pauses and remarks recorded. No pause takes time. */
export function recordedParts(changes: Partial<BackendParts> = {}): BackendParts & {
  readonly pauses: number[];
  readonly warnings: string[];
} {
  const pauses: number[] = [];
  const warnings: string[] = [];
  return {
    ...createParts(),
    warn: (message) => warnings.push(message),
    sleep: async (ms) => void pauses.push(ms),
    ...changes,
    pauses,
    warnings,
  };
}
