/**
 * HTTP for signed calls and for transfers, over `node:http`; through a proxy, over undici, which few runs load.
 * Identity encoding, no redirect, no cookie, no cache: a request is sent exactly as given.
 */
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ProxyAgent } from 'undici';
import { SYSTEM_RUNTIME } from '../runtime.ts';
import { chooseProxy, describeProxyError, type ProxySettings } from './proxy.ts';

type HttpBody = Buffer | AsyncIterable<Uint8Array> | null;

interface HttpRequest {
  readonly origin: string;
  /** Path and query, sent as they are. */
  readonly target: string;
  readonly method: string;
  /** With `content-length`, if the body is not a Buffer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: HttpBody;
  /** The only time limit of the request. */
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; repeated ones joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** To be read to its end, or left with `discard`. */
  readonly body: AsyncIterable<Buffer>;
  /** Drops what is left of the answer, or of the request, together with the connection. */
  discard(): void;
}

export interface Http {
  /** Rejects with the signal's reason, with what the body throws, or with a network error that has a `code`. */
  send(outgoing: HttpRequest): Promise<HttpResponse>;
  /** Aborts running requests and closes all connections. */
  close(): Promise<void>;
}

export interface HttpSettings {
  readonly connectMs: number;
  readonly proxy?: ProxySettings | undefined;
}

// An import would read all that node:http exports, `WebSocket` among it, which loads the copy of undici inside Node.
const plain = () => process.getBuiltinModule('node:http');
const secure = () => process.getBuiltinModule('node:https');

/** Opens no connection before the first request. */
export function createHttp(settings: HttpSettings): Http {
  const agents = new Map<string, Agent>();
  const underWay = new Set<ClientRequest>();
  const tunnels = new Map<string, Promise<ProxyAgent>>();

  function agentFor(protocol: string): Agent {
    const found =
      agents.get(protocol) ?? new (protocol === 'https:' ? secure() : plain()).Agent({ keepAlive: true });
    agents.set(protocol, found);
    return found;
  }

  function open({ origin, target, method, headers, body }: HttpRequest): ClientRequest {
    const { protocol, hostname, port } = new URL(origin);
    const { request } = protocol === 'https:' ? secure() : plain();
    const length = Buffer.isBuffer(body) ? { 'content-length': String(body.length) } : {};
    const sending = request({
      agent: agentFor(protocol),
      protocol,
      // An IPv6 address has brackets only in URLs.
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      method,
      path: target,
      headers: { ...headers, 'accept-encoding': 'identity', ...length },
    });
    underWay.add(sending);
    sending.once('close', () => underWay.delete(sending));
    limitConnecting(sending, protocol, settings.connectMs);
    return sending;
  }

  async function sendThrough(proxy: string, outgoing: HttpRequest): Promise<HttpResponse> {
    const tunnel = tunnels.get(proxy) ?? openTunnel(proxy, settings.connectMs);
    tunnels.set(proxy, tunnel);
    const { origin, target, method, headers, body, signal } = outgoing;
    try {
      const response = await (await tunnel).request({
        origin,
        path: target,
        method: method as 'GET', // undici knows more methods than its types list
        headers: { ...headers, 'accept-encoding': 'identity' },
        body: body as Buffer | null, // undici takes any async iterable of bytes; its types name only Node's own streams
        signal,
      });
      return describeResponse(response.statusCode, Object.entries(response.headers), response.body);
    } catch (error) {
      throw describeProxyError(error, proxy);
    }
  }

  return {
    async send(outgoing) {
      const { proxy } = settings;
      const chosen = proxy === undefined ? null : chooseProxy(new URL(outgoing.origin), proxy);
      return chosen === null ? exchange(open(outgoing), outgoing) : sendThrough(chosen, outgoing);
    },
    async close() {
      for (const request of underWay) request.destroy(withCode('the client was closed', 'ERR_CLIENT_CLOSED'));
      for (const agent of agents.values()) agent.destroy();
      await Promise.all([...tunnels.values()].map(async (tunnel) => (await tunnel).destroy()));
    },
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
    const abort = () => ending.destroy(asError(signal.reason));
    const stopListening = () => signal.removeEventListener('abort', abort);
    request.once('close', stopListening).on('error', reject);
    request.once('response', (response: IncomingMessage) => {
      ending = response;
      // The request closes with its response, whose body is read or discarded by then.
      response.once('close', stopListening);
      const headers = Object.entries(response.headersDistinct);
      resolve(describeResponse(response.statusCode ?? 0, headers, response, request));
    });
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener('abort', abort);
    if (body === null || Buffer.isBuffer(body)) request.end(body ?? undefined);
    // Waits until the kernel has a chunk before it takes the next. An answer may come before the end of the body.
    else pipeline(body, request).catch(reject);
  });
}

type Ending = AsyncIterable<Buffer> & { on(event: 'error', listen: () => void): { destroy(): unknown } };

function describeResponse(
  status: number,
  headers: readonly (readonly [string, string | readonly string[] | undefined])[],
  body: Ending,
  request?: ClientRequest,
): HttpResponse {
  return {
    status,
    headers: Object.fromEntries(
      headers.flatMap(([name, value]) => (value === undefined ? [] : [[name, [value].flat().join(', ')]])),
    ),
    body,
    discard() {
      body.on('error', () => {}).destroy();
      if (request?.writableFinished === false) request.destroy();
    },
  };
}

/** Always a tunnel: the proxy must not read or change requests. */
async function openTunnel(proxy: string, connectMs: number): Promise<ProxyAgent> {
  const { ProxyAgent } = await import('undici');
  // One protocol for all. Callers limit their requests by a signal, which also covers an answer that trickles in byte by byte.
  const connection = { allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  return new ProxyAgent({ uri: proxy, proxyTunnel: true, connectTimeout: connectMs, ...connection });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason), { cause: reason });
}

function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

/** How long the client waits for what, in milliseconds. */
export interface Timeouts {
  /** Until the connection is open, TLS included. */
  readonly connectMs: number;
  /** One signed call from its start to the last byte of the answer. */
  readonly callMs: number;
  /** The longest silence while bytes are sent, or received, for a file. */
  readonly idleMs: number;
  /** From the last byte of a file to the answer: storage may have to hash and copy it first. */
  readonly storedMs: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  // The largest body (12 MiB of subtitle lines) takes 100 s at 1 Mbit/s.
  callMs: 120_000,
  // One chunk of 1 MiB in a minute is 140 kbit/s: slower than that, a video does not arrive within its reservation.
  idleMs: 60_000,
  // What sits in the kernel's buffer (up to 4 MiB) still has to leave at that rate, then the store begins.
  storedMs: 300_000,
};

/** The abort reason of a time limit that expired. */
export class TimeOver extends Error {
  override readonly name: string = 'TimeOver';
}

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Restarts the time limit, after activity. */
  restart(ms: number): void;
  /** Makes the reason of the abort when the time limit expires. */
  reason: () => TimeOver;
  /** Call it when the work ends; otherwise the timer keeps the process alive. */
  clear(): void;
}

/** Starts the clock; `parent` is the caller's own signal. */
export function startTimeLimit(
  ms: number,
  parent: AbortSignal | undefined,
  { timer } = SYSTEM_RUNTIME,
): TimeLimit {
  const controller = new AbortController();
  const onParentAbort = () => controller.abort(parent?.reason);
  if (parent?.aborted) onParentAbort();
  parent?.addEventListener('abort', onParentAbort, { once: true });
  const expire = () => controller.abort(limit.reason());
  let stop = timer(ms, expire);
  const limit: TimeLimit = {
    signal: controller.signal,
    reason: () => new TimeOver('no answer in time'),
    restart(next) {
      stop();
      stop = timer(next, expire);
    },
    clear() {
      stop();
      parent?.removeEventListener('abort', onParentAbort);
    },
  };
  return limit;
}
