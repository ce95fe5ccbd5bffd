/** HTTP for signed calls and for transfers: direct, or through a proxy over undici, which few runs load. */
import type { Dispatcher, ProxyAgent } from 'undici';
import {
  type Http as BaseHttp,
  type HttpResponse as BaseHttpResponse,
  createHttp,
  type HttpRequest,
  joinHeaders,
} from '../../base/http.ts';
import { SYSTEM_RUNTIME } from '../runtime.ts';
import { chooseProxy, describeProxyError, ProxyError, type ProxySettings } from './proxy.ts';

export type HttpResponse = BaseHttpResponse<AsyncIterable<Buffer>>;
export type Http = BaseHttp<AsyncIterable<Buffer>>;

export interface HttpSettings {
  readonly connectMs: number;
  readonly proxy?: ProxySettings | undefined;
}

/** Opens no connection before the first request. */
export function createClientHttp({ connectMs, proxy }: HttpSettings): Http {
  const direct = createHttp({ connectMs });
  const tunnels = new Map<string, Promise<ProxyAgent>>();

  async function sendThrough(chosen: string, outgoing: HttpRequest): Promise<HttpResponse> {
    const tunnel = tunnels.get(chosen) ?? openTunnel(chosen, connectMs);
    tunnels.set(chosen, tunnel);
    const { origin, target, method, headers, body, signal } = outgoing;
    try {
      const response = await (await tunnel).request({
        origin,
        path: target,
        method: method as 'GET', // undici knows more methods than its types list
        headers: { ...headers, 'accept-encoding': 'identity' },
        body: body as Buffer | null, // undici takes any iterable of bytes; its types name only Node's own streams
        signal: signal ?? null,
      });
      return {
        status: response.statusCode,
        headers: joinHeaders(response.headers),
        body: response.body,
        discard: () => void response.body.on('error', () => {}).destroy(),
      };
    } catch (error) {
      throw describeProxyError(error, new URL(chosen).host);
    }
  }

  return {
    async send(outgoing) {
      const chosen = proxy === undefined ? null : chooseProxy(new URL(outgoing.origin), proxy);
      return chosen === null ? direct.send(outgoing) : sendThrough(chosen, outgoing);
    },
    async close() {
      await direct.close();
      await Promise.all([...tunnels.values()].map(async (tunnel) => (await tunnel).destroy()));
    },
  };
}

/** Always a tunnel: the proxy must not read or change requests. */
async function openTunnel(proxy: string, connectMs: number): Promise<ProxyAgent> {
  const { Pool, ProxyAgent } = await import('undici');
  const { host } = new URL(proxy);
  /** Errors on the way to the proxy are its own; those behind it arrive through the tunnel. */
  class ProxyPool extends Pool {
    override connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
      return super.connect(options).catch((cause: unknown) => {
        throw new ProxyError(host, null, { cause });
      });
    }
  }
  // One protocol for all. Callers limit their requests by a signal, which also covers an answer that trickles in byte by byte.
  const connection = { allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  const clientFactory = (origin: URL, options: object) => new ProxyPool(origin, options);
  return new ProxyAgent({
    uri: proxy,
    proxyTunnel: true,
    clientFactory,
    connectTimeout: connectMs,
    ...connection,
  });
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
  // The kernel's buffer (up to 4 MiB) still has to leave at that rate, then the store begins.
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
