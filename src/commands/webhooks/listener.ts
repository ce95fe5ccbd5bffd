/** The HTTP server of `webhooks listen`: one path, POST only, small bodies, short timeouts. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LIMITS } from '../../protocol/limits.ts';

export interface WebhookDelivery {
  /** The raw bytes, which were signed. */
  readonly body: Buffer;
  /** Every value of each header, names in lower case. */
  readonly headers: NodeJS.Dict<string[]>;
  /** Names and values alternating, as received. */
  readonly rawHeaders: readonly string[];
}

export interface WebhookReply {
  readonly status: number;
  /** One line for the sender's log. */
  readonly text: string;
}

interface ListenerOptions {
  readonly host: string;
  /** 0 lets the system pick a free one. */
  readonly port: number;
  /** Begins with a slash; a query after it is ignored. */
  readonly path: string;
  readonly receive: (delivery: WebhookDelivery) => Promise<WebhookReply>;
  /** Called for requests that are not deliveries. */
  readonly onRefused: (reason: string) => void;
  /** How long a request may take to arrive, in milliseconds; default: the timeout of the sender. */
  readonly arriveMs?: number;
}

export interface Listener {
  readonly url: string;
  /** Lets current responses finish, then closes all connections. */
  close(): Promise<void>;
}

/** An event has about 400 bytes; a service that sends whole jobs fits too. */
export const MAX_BODY_BYTES = 64 * 1024;

/** Time for the last responses. */
const CLOSE_MS = 1_000;

/** Starts listening; rejects with the system error for an unusable address. */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const arriveMs = options.arriveMs ?? LIMITS.webhookTimeoutMs;
  const server = createServer(
    {
      requestTimeout: arriveMs,
      headersTimeout: arriveMs,
      // How often Node looks for requests that have timed out.
      connectionsCheckingInterval: Math.min(1_000, arriveMs / 2),
    },
    (request, response) => void answer(request, response, options),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, options.host, resolve);
  });
  const { address, family, port } = server.address() as AddressInfo; // a TCP server has one
  const host = family === 'IPv6' ? `[${address}]` : address;
  return { url: `http://${host}:${port}${options.path}`, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: ListenerOptions,
): Promise<void> {
  const outcome = await take(request, options).catch((error: unknown) => {
    const text = `the request broke off: ${error instanceof Error ? error.message : String(error)}`;
    options.onRefused(text);
    return { status: 400, text };
  });
  const allow = outcome.status === 405 ? { Allow: 'POST' } : {};
  // One connection per delivery: deliveries are rare, and no connection stays open at the end.
  response.writeHead(outcome.status, { 'Content-Type': 'text/plain', Connection: 'close', ...allow });
  response.end(`${outcome.text}\n`, () => request.destroy());
}

async function take(request: IncomingMessage, options: ListenerOptions): Promise<WebhookReply> {
  const refuse = (status: number, text: string): WebhookReply => {
    options.onRefused(text);
    return { status, text };
  };
  const [path = ''] = (request.url ?? '').split('?', 1);
  if (path !== options.path) return refuse(404, `a request for another path than ${options.path}: ${path}`);
  if (request.method !== 'POST')
    return refuse(405, `a ${request.method} request; webhooks are sent with POST`);
  const body = await readBody(request);
  if (body === null) return refuse(413, `a body of more than ${MAX_BODY_BYTES / 1024} KiB`);
  return options.receive({ body, headers: request.headersDistinct, rawHeaders: request.rawHeaders });
}

/** Null for a body above the limit. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The connection is needed for the response.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
