/** The HTTP server: timeouts, malformed requests, sending of answers, shutdown. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { LIMITS } from '../../protocol/limits.ts';
import { createAuthHeaderReader } from '../auth/authenticate.ts';
import { type AddressReader, createAddressReader } from '../auth/caller-address.ts';
import type { Clock } from '../clock.ts';
import type { ServiceContext } from '../context.ts';
import { CallerGone } from '../http/body.ts';
import type { Exchange, FileSlice, ServiceResponse } from '../http/exchange.ts';
import { applyFaults, type Faults } from '../http/faults.ts';
import { answerParseFailure, answerRefusal, Refusal } from '../http/refusal.ts';
import { createRouter } from '../http/router.ts';
import type { RequestLog, RequestRecord } from '../log.ts';
import { createPages } from '../operate/pages.ts';
import { type Dispatch, dispatchRequest } from './dispatch.ts';

// An import of node:http evaluates all its exports. One of them, `WebSocket`, loads all of undici: 70 ms of a start
// that takes 40.
const { createServer } = process.getBuiltinModule('node:http');

export interface RunningServer {
  /** Scheme, host and port that the server listens on. */
  readonly origin: string;
  /** Accepts no more requests, waits for those in progress, and closes remaining connections after 5 s. */
  close(): Promise<void>;
}

const LIMITS_OF_NODE = {
  // The time for 16 KiB over the slowest link that still supports a phone call.
  headersTimeout: 15_000,
  // Bodies have their own limits: 30 s for JSON, a minimum rate for uploads, which may take the whole hour.
  requestTimeout: 0,
  // Above the 60 s for which load balancers keep a connection open, so that it is never closed while a request is sent.
  keepAliveTimeout: 65_000,
  // How often `headersTimeout` is checked.
  connectionsCheckingInterval: 5_000,
  // The service itself answers a request without Host, not Node.
  requireHostHeader: false,
} as const;

/** Time that a shutdown waits for answers in progress. */
const DRAIN_MS = 5000;

interface Listen {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly faults: Faults | null;
  readonly trustedProxies: readonly string[];
  readonly metricsFrom: readonly string[] | null;
  readonly onRequest: RequestLog | null;
  /** `probes`: only health and metrics. Default: everything. */
  readonly part?: 'all' | 'probes';
}

/** Starts listening and answers requests. */
export async function startServer(context: ServiceContext, listen: Listen): Promise<RunningServer> {
  const parts: Dispatch = {
    context,
    route: createRouter(listen.part),
    readHeaders: createAuthHeaderReader(context.config.headerPrefix),
    pages: createPages(context, listen),
  };
  const addressOf = createAddressReader(listen.trustedProxies);
  let draining = false;
  const server = createServer(LIMITS_OF_NODE);
  // Node silently drops headers beyond 2,000, possibly a repeated one. The service's own check counts all of them.
  server.maxHeadersCount = 0;
  const underWay = new Set<Promise<void>>();
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    if (lingering.has(request.socket)) return void request.socket.destroy();
    const lastOfConnection = draining || context.activity.state === 'closing';
    const exchange = openExchange(context, request, response, { lastOfConnection, addressOf });
    const conversation = converse(parts, listen.faults, exchange, draining);
    underWay.add(conversation);
    void conversation.then(() => underWay.delete(conversation));
  };
  server.on('request', listener).on('checkContinue', listener).on('checkExpectation', listener);
  server.on('clientError', (error, socket) => {
    const about = {
      now: context.clock.now(),
      requestId: context.makeId('request'),
      origin: context.origin(),
    };
    answerParseFailure(error, socket, about);
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(listen.port, listen.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    origin: originOf(server),
    close() {
      draining = true;
      return drain(server, context, underWay);
    },
  };
}

function openExchange(
  context: ServiceContext,
  request: IncomingMessage,
  response: ServerResponse,
  server: { lastOfConnection: boolean; addressOf: AddressReader },
): Exchange {
  response.sendDate = false;
  const headers: Record<string, string> = server.lastOfConnection ? { Connection: 'close' } : {};
  return {
    request,
    response,
    id: context.makeId('request'),
    receivedAt: context.clock.now(),
    address: server.addressOf(request),
    path: '/',
    route: null,
    keyId: null,
    headers,
  };
}

/** Handles one request and its answer. Never throws. */
async function converse(
  parts: Dispatch,
  faults: Faults | null,
  exchange: Exchange,
  draining: boolean,
): Promise<void> {
  const { context } = parts;
  const { request, response } = exchange;
  let status: number | null = null;
  try {
    const work = async () => (draining ? refuseLate(context, exchange) : dispatchRequest(parts, exchange));
    const answer = await (faults === null ? work() : applyFaults(faults, exchange, context.origin(), work));
    if (answer === 'drop') response.destroy();
    else {
      await send(exchange, answer, context.clock);
      status = answer.status;
    }
  } catch (error) {
    if (!(error instanceof CallerGone) && !request.destroyed) {
      context.log({ level: 'warn', message: 'an answer was cut off', requestId: exchange.id, error });
    }
    response.destroy();
  }
  parts.pages.record(describeExchange(exchange, status, context.clock.now()));
}

function describeExchange(exchange: Exchange, status: number | null, now: number): RequestRecord {
  const { id, request, route, receivedAt, keyId, address } = exchange;
  return {
    requestId: id,
    method: request.method ?? '',
    template: route?.template ?? null,
    operationId: route?.type === 'operation' ? route.operation.operationId : null,
    status,
    durationMs: now - receivedAt,
    keyId,
    address: address ?? null,
  };
}

function refuseLate(context: ServiceContext, exchange: Exchange) {
  const refusal = new Refusal('SERVICE_TEMPORARILY_UNAVAILABLE', 'the service is closing', {
    // The typical time of a restart.
    headers: { 'Retry-After': '5' },
  });
  return answerRefusal(refusal, exchange, context.origin());
}

function originOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo; // a TCP server has one
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function drain(server: Server, context: ServiceContext, underWay: ReadonlySet<Promise<void>>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = context.clock.schedule(DRAIN_MS, () => server.closeAllConnections());
    server.close(() => {
      cancel();
      resolve();
    });
    server.closeIdleConnections();
    // A connection is not idle if it was answered before its request was read completely.
    void Promise.all(underWay).then(() => server.closeAllConnections());
  });
}

/** 1 MiB, so that a large result needs few reads. */
const READ_BYTES = 1024 ** 2;
/**
 * A receiver that reads nothing for this long has disconnected, or is a paused player that will continue with a Range
 * request.
 */
const STALLED_MS = 5 * 60_000;
/** How long the connection of a refused body stays open without a byte, so that its sender can read the answer. */
const LINGER_MS = 2000;
/** Limits of what is read and discarded for senders that read the answer only after the whole body, as in nginx: 30 s and the largest file. */
const LONGEST_LINGER_MS = 30_000;
const LINGER_BYTES = LIMITS.videoBytes;
/** A rest up to this length is read, so that the connection can be used again. */
const SHORT_REST_BYTES = 256 * 1024;

/** Sends an answer. Rejects if the caller disconnects in the middle of a file. */
async function send(exchange: Exchange, answer: ServiceResponse, clock: Clock): Promise<void> {
  const { request, response } = exchange;
  const { body } = answer;
  const headers: Record<string, string | number> = {
    // The clock of the service, which checks signatures, not the clock of the machine.
    Date: new Date(clock.now()).toUTCString(),
    'Cache-Control': 'no-store',
    'X-Request-ID': exchange.id,
    ...exchange.headers,
    ...answer.headers,
  };
  if (typeof body === 'string') headers['Content-Length'] = Buffer.byteLength(body);
  else if (body !== null) headers['Content-Length'] = body.length;
  const rest = request.complete || request.method === 'GET' ? 'none' : restOf(request, headers);
  if (rest === 'long') {
    headers.Connection = 'close';
    leaveRest(exchange, clock);
  } else if (rest === 'short') readRest(exchange, clock);
  response.writeHead(answer.status, headers);

  if (answer.cutAfter !== undefined && body !== null) {
    await sendStart(response, body, answer.cutAfter);
  } else if (body === null || typeof body === 'string') {
    response.end(request.method === 'HEAD' ? undefined : body);
  } else if (request.method === 'HEAD' || body.length === 0) {
    await body.handle.close();
    response.end();
  } else {
    response.setTimeout(STALLED_MS, () => response.destroy());
    await pipeline(openSlice(body), response);
  }
}

/** A connection that is to be closed anyway was used by a malformed request, and is not kept open for its sender. */
function restOf({ headers }: IncomingMessage, { Connection }: Record<string, unknown>): 'short' | 'long' {
  const announced = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
  return announced <= SHORT_REST_BYTES || Connection === 'close' ? 'short' : 'long';
}

/** Sends only the start of a body whose full length was announced, and closes the connection. */
async function sendStart(response: ServerResponse, body: string | FileSlice, bytes: number): Promise<void> {
  const start =
    typeof body === 'string'
      ? Readable.from([Buffer.from(body).subarray(0, bytes)])
      : openSlice({ ...body, length: Math.min(bytes, body.length) });
  await pipeline(start, response, { end: false });
  // Called after the written bytes are sent.
  response.socket?.destroySoon();
}

function openSlice({ handle, start, length }: FileSlice) {
  return handle.createReadStream({ start, end: start + length - 1, highWaterMark: READ_BYTES });
}

/** Reads a short rest of a refused body, so that the connection can be used again, unless it takes too long. */
function readRest({ request, response }: Exchange, clock: Clock): void {
  response.once('finish', () => {
    if (request.complete) return;
    const cancel = clock.schedule(LINGER_MS, () => request.destroy());
    request.once('close', cancel).resume();
  });
}

/** Connections that are only open so that the sender can read the answer. Nothing that follows on them is a request. */
const lingering = new WeakSet<Socket>();

/**
 * Closes the connection of a refused body. A socket that is closed while bytes arrive takes the answer back from a sender that has
 * not read it yet, so only our side is closed at first, and the rest is read and discarded within limits.
 */
function leaveRest({ request, response }: Exchange, clock: Clock): void {
  const { socket } = request;
  lingering.add(socket);
  // Called by Node after an answer with `Connection: close`.
  socket.destroySoon = () => socket.end();
  let left = LINGER_BYTES;
  const stop = () => socket.destroy();
  let cancelIdle = () => {};
  const awaitBytes = () => {
    cancelIdle();
    cancelIdle = clock.schedule(LINGER_MS, stop);
  };
  // Without a listener, Node would read and discard everything.
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.pause();
    else awaitBytes();
  });
  response.once('finish', () => {
    awaitBytes();
    const cancel = clock.schedule(LONGEST_LINGER_MS, stop);
    socket.once('close', () => {
      cancel();
      cancelIdle();
    });
  });
}
