/** A real HTTP server on loopback that answers as a script says, faults included, and remembers what it was asked. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  readonly method: string;
  /** Raw request target. */
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** One answer; reads the body first unless it is marked `early`. */
export type Reply = ((seen: Seen, response: ServerResponse, request: IncomingMessage) => void) & {
  early?: boolean;
};

export interface ScriptedServer {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly origin: string;
  readonly seen: Seen[];
  /** Used up one a request; then `route` chooses, or `fallback` answers. */
  readonly script: Reply[];
  route: (method: string, target: string) => Reply | null;
  fallback: Reply;
  close(): Promise<void>;
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function startServer(fallback: Reply = json(200, {})): Promise<ScriptedServer> {
  const seen: Seen[] = [];
  const script: Reply[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    const reply = script.shift() ?? state.route(method, url) ?? state.fallback;
    const body = reply.early ? Buffer.alloc(0) : await readBody(request).catch(() => null);
    if (body === null) return;
    const entry = { method, target: url, headers, body };
    seen.push(entry);
    reply(entry, response, request);
  };
  const server: Server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has one
  const origin = `http://127.0.0.1:${port}`;
  const state: ScriptedServer = {
    baseUrl: `${origin}/v1`,
    origin,
    seen,
    script,
    route: () => null,
    fallback,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return state;
}

type Headers = Readonly<Record<string, string>>;

/** Any answer, whole. */
export function answer(status: number, headers: Headers, body: string | Buffer = ''): Reply {
  return (_seen, response) => {
    response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
    response.end(body);
  };
}

export function json(status: number, body: unknown, headers: Headers = {}): Reply {
  const fixed = { 'content-type': 'application/json', 'x-request-id': 'req_test', ...headers };
  return answer(status, fixed, JSON.stringify(body));
}

export function problem(
  status: number,
  code: string,
  retryable: boolean | undefined,
  headers: Headers = {},
  more: object = {},
): Reply {
  const body = {
    title: code,
    status,
    detail: `${code} happened.`,
    code,
    request_id: 'req_problem',
    retryable,
  };
  const type = { 'content-type': 'application/problem+json' };
  return answer(status, { ...type, ...headers }, JSON.stringify({ ...body, ...more }));
}

export function html(status: number, page: string): Reply {
  return answer(status, { 'content-type': 'text/html' }, page);
}

/** Drops the connection without a byte, after the request was read. */
export const reset: Reply = (_seen, response) => {
  response.socket?.resetAndDestroy();
};

/** Promises more than it sends, then drops the connection. */
export function cutAfter(promised: number, sent: Buffer, headers: Headers, status = 200): Reply {
  return (_seen, response) => {
    response.writeHead(status, { 'content-length': promised, ...headers });
    response.write(sent, () => response.socket?.destroy());
  };
}

/** Never answers. */
export const hang: Reply = () => {};
