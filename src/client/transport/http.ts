/** HTTP for signed calls and for transfers: direct, or through a proxy. Time limits of a call and of a transfer. */

import type { Http } from '../../base/http.ts';
import { createHttp } from '../../base/http-client.ts';
import { SYSTEM_RUNTIME } from '../runtime.ts';
import { chooseProxy, type ProxySettings } from './proxy.ts';
import { openTunnels } from './tunnels.ts';

/** Opens no connection before the first request. */
export function createClientHttp(settings: {
  readonly connectMs: number;
  readonly proxy?: ProxySettings | undefined;
}): Http {
  const { connectMs, proxy } = settings;
  const direct = createHttp({ connectMs });
  if (proxy === undefined) return direct;
  const tunnelled = createHttp({ connectMs, openAgent: openTunnels(proxy) });
  return {
    send: (outgoing) =>
      (chooseProxy(new URL(outgoing.origin), proxy) === null ? direct : tunnelled).send(outgoing),
    async close() {
      await Promise.all([direct.close(), tunnelled.close()]);
    },
  };
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
  /** That of undici's own limits, for the table of network errors. */
  readonly code = 'UND_ERR_HEADERS_TIMEOUT';
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
