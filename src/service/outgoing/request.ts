/** One HTTP request to a target that somebody outside has named. Follows nothing, keeps no connection. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Dial, openConnection, systemDial } from './connect.ts';
import { describeNetworkError, TargetBlocked, TargetUnreachable } from './failures.ts';
import { type Resolver, resolveHost, systemResolver } from './resolve.ts';
import { checkUrl, hostOf, type UrlPolicy } from './url-policy.ts';

// Not imported, for the reason given where the server is made: it would load the whole of undici.
const { request: send } = process.getBuiltinModule('node:http');

/** How the outside is reached; tests bring their own names and connections. */
export interface Network {
  readonly policy: UrlPolicy;
  readonly resolver: Resolver;
  readonly dial: Dial;
}

/** The network of this machine under a policy. */
export function systemNetwork(policy: UrlPolicy): Network {
  return { policy, resolver: systemResolver, dial: systemDial };
}

export interface Message {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** 32 KiB of header lines, twice Node's own limit for a request: some storage servers send much. */
const MAX_HEADER_BYTES = 32 * 1024;
const PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

/**
 * Checks the URL and all its addresses, connects to one of these, sends, and resolves with the head of the answer, whose
 * body is still to be read. The signal ends all of it, the body as well.
 * @throws TargetBlocked, TargetUnreachable; the signal's reason
 */
export async function sendRequest(
  network: Network,
  address: string,
  message: Message,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const checked = checkUrl(address, network.policy);
  if (!checked.ok) throw new TargetBlocked(`the address ${checked.reason}`);
  const { url } = checked;
  const host = hostOf(url);
  const addresses = await resolveHost(host, { ...network, signal });
  const endpoint = {
    host,
    port: url.port === '' ? (PORTS[url.protocol] ?? 0) : Number(url.port),
    isSecure: url.protocol === 'https:',
    addresses,
  };
  const socket = await openConnection(endpoint, network.dial, signal);
  return exchange(socket, url, message, signal);
}

function exchange(
  socket: Socket,
  url: URL,
  { method, headers, body }: Message,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = send({
      // The socket is there already, encrypted or not.
      createConnection: () => socket,
      method,
      path: url.pathname + url.search,
      headers: { Host: url.host, 'User-Agent': 'vloc', Connection: 'close', ...headers },
      maxHeaderSize: MAX_HEADER_BYTES,
      signal,
    });
    request.on('response', resolve);
    request.on('error', (error) => {
      if (signal.aborted) reject(signal.reason);
      else reject(new TargetUnreachable(describeNetworkError(error), { cause: error }));
    });
    request.end(body);
  });
}
