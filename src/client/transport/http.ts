/**
 * The only file that knows undici. Two parts of it are loaded by their paths inside the package, so its version is pinned.
 * Identity encoding, no redirect, no cookie, no cache: what is asked is what is sent.
 */
import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import Agent from 'undici/lib/dispatcher/agent.js';

export type HttpBody = Buffer | AsyncIterable<Uint8Array> | null;

export interface HttpRequest {
  readonly origin: string;
  /** Path and query, sent as they are. */
  readonly target: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: HttpBody;
  /** The one thing that ends a request which gets no answer. */
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
  /** Cuts what is in flight and closes all connections. */
  close(): Promise<void>;
}

export interface ProxySettings {
  /** Address of the proxy for http and for https; an empty text means none. */
  readonly http: string;
  readonly https: string;
  /** Hosts reached without it, separated by commas; this machine always is. */
  readonly noProxy: string;
}

export interface HttpSettings {
  readonly connectMs: number;
  readonly proxy?: ProxySettings;
}

const LOOPBACK_HOSTS = 'localhost,127.0.0.1,::1';

async function createDispatcher({ connectMs, proxy }: HttpSettings): Promise<Dispatcher> {
  const options = {
    connect: { timeout: connectMs },
    // One protocol for https and loopback: what is tested on one holds for the other.
    allowH2: false,
    // Callers limit their requests by a signal, which also covers an answer that trickles in byte by byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if (proxy === undefined) return new Agent(options);
  // The proxy needs parts that only the whole package puts together; few runs pay for loading it.
  const { EnvHttpProxyAgent } = await import('undici');
  const settings = {
    httpProxy: proxy.http,
    httpsProxy: proxy.https,
    noProxy: `${proxy.noProxy},${LOOPBACK_HOSTS}`,
  };
  return new EnvHttpProxyAgent({ ...options, ...settings });
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
  const dispatcher = await createDispatcher(settings);
  return {
    async send({ origin, target, method, headers, body, signal }) {
      const response = await request.call(dispatcher, {
        origin,
        path: target,
        // undici knows more methods than its types list; the service refuses those it does not know.
        method: method as 'GET',
        headers: { ...headers, 'accept-encoding': 'identity' },
        // undici takes any async iterable of bytes; its types name only Node's own streams.
        body: body as Buffer | null,
        signal,
      });
      return {
        status: response.statusCode,
        headers: joinHeaders(response.headers),
        body: response.body,
        discard() {
          response.body.on('error', () => {}).destroy();
        },
      };
    },
    close: () => dispatcher.destroy(),
  };
}
