/**
 * The only file that knows undici. Two parts of it are loaded by their paths inside the package, so its version is pinned.
 * Identity encoding, no redirect, no cookie, no cache: a request is sent exactly as given.
 */
import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import { chooseProxy, describeProxyError, type ProxySettings } from './proxy.ts';

type HttpBody = Buffer | AsyncIterable<Uint8Array> | null;

export interface HttpRequest {
  readonly origin: string;
  /** Path and query, sent as they are. */
  readonly target: string;
  readonly method: string;
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
  /** Drops what is left of the body together with the connection. */
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
  readonly proxy?: ProxySettings;
}

const CONNECTION = {
  // One protocol for https and loopback, so that tests on loopback cover https.
  allowH2: false,
  // Callers limit their requests by a signal, which also covers an answer that trickles in byte by byte.
  headersTimeout: 0,
  bodyTimeout: 0,
};

interface Dispatchers {
  /** The dispatcher for a proxy; null for direct connections. */
  get(proxy: string | null): Promise<Dispatcher>;
  destroy(): Promise<void>;
}

/** One dispatcher per proxy and one for direct connections, each made when it is first needed. */
function createDispatchers(connectMs: number): Dispatchers {
  const made = new Map<string | null, Promise<Dispatcher>>();
  const connect = { timeout: connectMs };
  async function make(proxy: string | null): Promise<Dispatcher> {
    if (proxy === null) return new Agent({ ...CONNECTION, connect });
    // ProxyAgent needs most of the package; few runs use a proxy and load it.
    const { ProxyAgent } = await import('undici');
    // Always a tunnel: the proxy must not read or change requests.
    const tunnel = { uri: proxy, proxyTunnel: true, connectTimeout: connectMs };
    return new ProxyAgent({ ...CONNECTION, ...tunnel });
  }
  return {
    get(proxy) {
      const found = made.get(proxy) ?? make(proxy);
      made.set(proxy, found);
      return found;
    },
    async destroy() {
      await Promise.all([...made.values()].map(async (dispatcher) => (await dispatcher).destroy()));
    },
  };
}

function joinHeaders(raw: Record<string, string | string[] | undefined>): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) joined[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return joined;
}

/** Opens no connection before the first request. */
export async function createHttp(settings: HttpSettings): Promise<Http> {
  const dispatchers = createDispatchers(settings.connectMs);
  return {
    async send({ origin, target, method, headers, body, signal }) {
      const proxy = settings.proxy === undefined ? null : chooseProxy(new URL(origin), settings.proxy);
      const sending = request.call(await dispatchers.get(proxy), {
        origin,
        path: target,
        method: method as 'GET', // undici knows more methods than its types list
        headers: { ...headers, 'accept-encoding': 'identity' },
        body: body as Buffer | null, // undici takes any async iterable of bytes; its types name only Node's own streams
        signal,
      });
      const response = await (proxy === null
        ? sending
        : sending.catch((error: unknown) => {
            throw describeProxyError(error, proxy);
          }));
      return {
        status: response.statusCode,
        headers: joinHeaders(response.headers),
        body: response.body,
        discard() {
          response.body.on('error', () => {}).destroy();
        },
      };
    },
    close: () => dispatchers.destroy(),
  };
}
