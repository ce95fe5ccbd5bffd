/**
 * One HTTP exchange over `node:http`, for all that vloc calls. Identity encoding, no redirect, no cookie, no cache, no retry:
 * a request is sent exactly as given, and callers decide about the answer.
 */
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { errorCode } from './system-error.ts';

export interface HttpRequest {
  readonly origin: string;
  /** Path and query, sent as they are. */
  readonly target: string;
  readonly method: string;
  /** With `content-length`, if the body is not a Buffer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | AsyncIterable<Uint8Array> | Iterable<Uint8Array> | null;
  /** The only time limit of the whole request. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time without a byte on the connection, in milliseconds. Default: that of the settings. */
  readonly idleMs?: number | undefined;
}

export interface HttpResponse<Body = IncomingMessage> {
  readonly status: number;
  /** Names in lower case; repeated ones joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** To be read to its end, or left with `discard`. */
  readonly body: Body;
  /** Drops what is left of the answer, or of the request, together with the connection. */
  discard(): void;
}

export interface Http<Body = IncomingMessage> {
  /**
   * Rejects with the signal's reason, with what the body throws, with StaleConnection, or with a network error that has a
   * `code`.
   */
  send(outgoing: HttpRequest): Promise<HttpResponse<Body>>;
  /** Aborts running requests and closes all connections. */
  close(): Promise<void>;
}

export interface HttpSettings {
  /** Until a connection is open, TLS included. Default: no limit of its own. */
  readonly connectMs?: number | undefined;
  /** As in a request, and for connections between requests. Default: no limit. */
  readonly idleMs?: number | undefined;
  /** Connections to one origin at the same time. Default: no limit. */
  readonly maxSockets?: number | undefined;
  /**
   * Opens the connection of each request; it must be open, TLS included. None is reused. Default: connections to any address,
   * kept for later requests.
   */
  readonly connect?: ((url: URL, signal: AbortSignal | undefined) => Promise<Socket>) | undefined;
}

/** The server closed a kept connection, most likely before it read the request. Another request opens a new one. */
export class StaleConnection extends Error {
  override readonly name = 'StaleConnection';
  readonly code = 'ECONNRESET';
}

/** 32 KiB of header lines, twice Node's own limit: some gateways and storage servers send many. */
const MAX_HEADER_BYTES = 32 * 1024;

// An import would read all that node:http exports, `WebSocket` among it, which loads the copy of undici inside Node.
const plain = () => process.getBuiltinModule('node:http');
const secure = () => process.getBuiltinModule('node:https');

/** Opens no connection before the first request. */
export function createHttp(settings: HttpSettings): Http {
  const agents = new Map<string, Agent>();
  const underWay = new Set<ClientRequest>();
  const { connectMs, connect } = settings;

  function agentFor(protocol: string): Agent {
    const { idleMs: timeout, maxSockets = Number.POSITIVE_INFINITY } = settings;
    const kept = { keepAlive: true, maxSockets, ...(timeout === undefined ? {} : { timeout }) };
    const found = agents.get(protocol) ?? new (protocol === 'https:' ? secure() : plain()).Agent(kept);
    agents.set(protocol, found);
    return found;
  }

  function open({ origin, target, method, headers, body, signal, ...limits }: HttpRequest): ClientRequest {
    const url = new URL(origin);
    const { protocol, hostname, port } = url;
    const { request } = protocol === 'https:' ? secure() : plain();
    const length = Buffer.isBuffer(body) ? { 'content-length': String(body.length) } : {};
    const idleMs = limits.idleMs ?? settings.idleMs;
    const connection: RequestOptions =
      connect === undefined
        ? { agent: agentFor(protocol) }
        : { createConnection: connector(connect, url, signal) };
    const sending = request({
      ...connection,
      protocol,
      // An IPv6 address has brackets only in URLs.
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      method,
      path: target,
      headers: { ...headers, 'accept-encoding': 'identity', ...length },
      maxHeaderSize: MAX_HEADER_BYTES,
      ...(idleMs === undefined ? {} : { timeout: idleMs }),
    });
    underWay.add(sending);
    sending.once('close', () => underWay.delete(sending));
    sending.on('timeout', () => sending.destroy(new Error(`nothing moved for ${(idleMs ?? 0) / 1000} s`)));
    if (connectMs !== undefined) limitConnecting(sending, protocol, connectMs);
    return sending;
  }

  return {
    async send(outgoing) {
      outgoing.signal?.throwIfAborted();
      return exchange(open(outgoing), outgoing);
    },
    async close() {
      for (const request of underWay) request.destroy(withCode('the client was closed', 'ERR_CLIENT_CLOSED'));
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

/** Gives a request a connection that is opened for it. */
function connector(
  connect: NonNullable<HttpSettings['connect']>,
  url: URL,
  signal: AbortSignal | undefined,
): NonNullable<RequestOptions['createConnection']> {
  return (_options, done) => {
    connect(url, signal).then(
      (socket) => done(null, socket),
      // The types ask for a socket beside the error, which Node does not read.
      (error: unknown) => done(asError(error), undefined as unknown as Socket),
    );
    return undefined;
  };
}

/** The time limit of a request covers all of it; that of the connection is shorter, so that an unreachable host is reported as such. */
function limitConnecting(request: ClientRequest, protocol: string, connectMs: number): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const giveUp = () => request.destroy(withCode('no connection in time', 'ETIMEDOUT'));
    const timer = setTimeout(giveUp, connectMs);
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(timer));
    request.once('close', () => clearTimeout(timer));
  });
}

function exchange(request: ClientRequest, { body, signal }: HttpRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    // A response that is being read ends with the same reason.
    let ending: { destroy(error: Error): unknown } = request;
    const abort = () => ending.destroy(asError(signal?.reason));
    const stopListening = () => signal?.removeEventListener('abort', abort);
    request
      .once('close', stopListening)
      .on('error', (error) => reject(isStale(request, error) ? stale(error) : error));
    request.once('response', (response: IncomingMessage) => {
      ending = response;
      // The request closes with its response, whose body is read or discarded by then.
      response.once('close', stopListening);
      resolve(describeResponse(response, request));
    });
    signal?.addEventListener('abort', abort);
    if (body === null || Buffer.isBuffer(body)) request.end(body ?? undefined);
    // Waits until the kernel has a chunk before it takes the next. An answer may come before the end of the body.
    else pipeline(body, request).catch(reject);
  });
}

function isStale({ reusedSocket }: ClientRequest, error: Error): boolean {
  return reusedSocket && ['ECONNRESET', 'EPIPE'].includes(errorCode(error));
}

function stale(cause: Error): StaleConnection {
  return new StaleConnection('the server closed the connection', { cause });
}

function describeResponse(body: IncomingMessage, request: ClientRequest): HttpResponse {
  return {
    status: body.statusCode ?? 0,
    headers: joinHeaders(body.headersDistinct),
    body,
    discard() {
      body.on('error', () => {}).destroy();
      if (!request.writableFinished) request.destroy();
    },
  };
}

/** Returns headers with one value for each name. */
export function joinHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  );
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason), { cause: reason });
}

function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

/** A response whose body is read as chunks, whatever sent it. */
type Chunks = HttpResponse<AsyncIterable<Buffer>>;

/** A body that is larger than the caller accepts. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
  readonly status: number;
  readonly headers: HttpResponse['headers'];

  constructor({ status, headers }: Pick<HttpResponse, 'status' | 'headers'>, limit: number) {
    super(`it is larger than ${limit / 1024 ** 2} MiB`);
    this.status = status;
    this.headers = headers;
  }
}

/** Reads a whole body; beyond the limit, in bytes, it drops the connection and throws BodyTooLarge. */
export async function collectBody(response: Chunks, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > limit) {
      response.discard();
      throw new BodyTooLarge(response, limit);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** The beginning of a body that only explains a refusal; never fails, since it describes another failure. */
export async function collectStart(response: Chunks, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= limit) break;
    }
  } catch {
    // Show what arrived before the connection broke.
  }
  response.discard();
  return Buffer.concat(chunks, size).subarray(0, limit);
}
