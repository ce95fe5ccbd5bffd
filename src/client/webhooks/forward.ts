/** Forwards verified deliveries, byte for byte, to a receiver under development. */
import { type Failure, usageFailure } from '../../base/failure.ts';
import { isLoopback } from '../../protocol/loopback.ts';
import { createClientHttp, startTimeLimit } from '../transport/http.ts';
import { describeNetworkError } from '../transport/network-error.ts';

/** How the receiver took it; `reason` is one sentence without the final stop. */
export type ForwardResult =
  | { readonly ok: true; readonly status: number }
  | { readonly ok: false; readonly status: number | null; readonly reason: string };

export interface Forwarder {
  /** @param rawHeaders alternating names and values, as `node:http` provides them */
  forward(body: Buffer, rawHeaders: readonly string[]): Promise<ForwardResult>;
  close(): Promise<void>;
}

/** The sender gives up after 5 s; half a second is left to answer it. */
const ANSWER_MS = 4_500;

/** They belong to one connection, or are set again for the next one. Source: RFC 9110, section 7.6.1. */
const HOP_BY_HOP = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * The address to forward to; `localhost:3000/hook` means http.
 * @throws Failure (`usage`) unless it is http on this machine, or https
 */
export function parseForwardTarget(text: string): URL {
  const address = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || url.username !== '' || url.password !== '') {
    throw forwardAddressFailure('--forward-to is not an address, or contains a password');
  }
  if (url.protocol === 'https:' || isLoopback(url)) return url;
  throw forwardAddressFailure('--forward-to needs https for another machine');
}

function forwardAddressFailure(message: string): Failure {
  const advice = 'Write an address of this machine, such as http://localhost:3000/hook.';
  return usageFailure('FORWARD_TARGET_INVALID', message, advice);
}

/** Opens no connection before the first delivery; follows no redirect: it could lead a signed event anywhere. */
export function createForwarder(target: URL, answerMs = ANSWER_MS): Forwarder {
  const http = createClientHttp({ connectMs: answerMs });
  return {
    async forward(body, rawHeaders) {
      const limit = startTimeLimit(answerMs, undefined);
      try {
        const response = await http.send({
          origin: target.origin,
          target: `${target.pathname}${target.search}`,
          method: 'POST',
          headers: endToEnd(rawHeaders),
          body,
          signal: limit.signal,
        });
        response.discard();
        return outcomeOf(response.status);
      } catch (error) {
        const { failure } = describeNetworkError(error, target.host);
        return { ok: false, status: null, reason: failure.message };
      } finally {
        limit.clear();
      }
    },
    close: http.close,
  };
}

function endToEnd(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (HOP_BY_HOP.has(name.toLowerCase())) continue;
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

function outcomeOf(status: number): ForwardResult {
  if (status >= 200 && status < 300) return { ok: true, status };
  const redirect = status >= 300 && status < 400 ? ', a redirect, which is not followed' : '';
  return { ok: false, status, reason: `the receiver answered with status ${status}${redirect}` };
}
