/** Sends one HTTP request to an untrusted URL. Follows no redirect and keeps no connection. */
import {
  AddressBlocked,
  endpointOf,
  type Network,
  openChecked,
  SYSTEM_NETWORK,
} from '../../base/checked-connection.ts';
import type { HttpResponse } from '../../base/http.ts';
import { createHttp } from '../../base/http-client.ts';
import { explainNetworkError } from '../../base/network-error.ts';
import { checkUrl, type UrlPolicy } from './url-policy.ts';

/** The target did not answer properly; another attempt may succeed. */
export class TargetUnreachable extends Error {
  override readonly name = 'TargetUnreachable';
}

/** Explains to a caller why a connection or a transfer failed. Node's own messages would reveal resolved addresses and ports. */
export function describeNetworkError(error: unknown): string {
  return `it ${explainNetworkError(error).what}`;
}

/** How targets are reached. Tests pass their own names and connections. */
export interface OutgoingNetwork extends Network {
  readonly policy: UrlPolicy;
}

/** Returns the network of this machine with a policy. */
export function systemNetwork(policy: UrlPolicy): OutgoingNetwork {
  return { policy, ...SYSTEM_NETWORK };
}

interface Message {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Checks the URL and all its addresses, connects to one of them, sends the request, and resolves with the head of the
 * answer. The caller reads the body. The signal aborts everything, including the body.
 * @throws AddressBlocked, TargetUnreachable; the signal's reason
 */
export async function sendRequest(
  network: OutgoingNetwork,
  address: string,
  { method, headers, body }: Message,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { policy } = network;
  const checked = checkUrl(address, policy);
  if (!checked.ok) throw new AddressBlocked(`the address ${checked.reason}`);
  const { url } = checked;
  const permitted = policy.allowLoopback ? 'public-or-loopback' : 'public';
  const http = createHttp({
    connect: (at, closing) => openChecked(endpointOf(at), permitted, closing, network),
  });
  try {
    return await http.send({
      origin: url.origin,
      target: url.pathname + url.search,
      method,
      headers: { 'user-agent': 'vloc', ...headers },
      body: body === undefined ? null : Buffer.from(body),
      signal,
    });
  } catch (error) {
    void http.close();
    signal.throwIfAborted();
    if (error instanceof AddressBlocked) throw error;
    throw new TargetUnreachable(describeNetworkError(error), { cause: error });
  }
}
