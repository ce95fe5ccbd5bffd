/**
 * Sends one HTTP request to an untrusted URL: DNS lookup, connection, exchange. Follows no redirect and keeps no
 * connection.
 */
import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { explainNetworkError } from '../../base/network-error.ts';
import { orAborted } from '../time-limits.ts';
import {
  checkUrl,
  hostOf,
  isLoopbackAddress,
  isLoopbackHost,
  isPublicAddress,
  isSameAddress,
  type UrlPolicy,
} from './url-policy.ts';

/** The policy forbids the target: nothing was sent, and a retry does not help unless the target changes. */
export class TargetBlocked extends Error {
  override readonly name = 'TargetBlocked';
}

/** The target did not answer properly; another attempt may succeed. */
export class TargetUnreachable extends Error {
  override readonly name = 'TargetUnreachable';
}

/** Explains to a caller why a connection or a transfer failed. Node's own messages would reveal resolved addresses and ports. */
export function describeNetworkError(error: unknown): string {
  return `it ${explainNetworkError(error).what}`;
}

/** Returns all addresses of a name, with aliases followed. */
type Resolver = (name: string) => Promise<readonly string[]>;

/** Resolves with the system's hosts file and name servers. */
const systemResolver: Resolver = async (name) => {
  const answers = await lookup(name, { all: true, order: 'verbatim' });
  return answers.map(({ address }) => address);
};

/**
 * Resolves a host and checks that each of its addresses is permitted. A name with both permitted and forbidden
 * addresses is refused, because only an attacker uses one.
 * @param host name, or address without brackets
 * @throws TargetBlocked, TargetUnreachable; the signal's reason
 */
export async function resolveHost(
  host: string,
  parts: { readonly policy: UrlPolicy; readonly resolver: Resolver; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const { policy, resolver, signal } = parts;
  const addresses = isIP(host) === 0 ? await ask(host, resolver, signal) : [host];
  const isPermitted = (address: string) =>
    // Names such as `localhost` may be called over http, so they must not resolve to another machine.
    (isPublicAddress(address) && !isLoopbackHost(host)) ||
    (policy.allowLoopback && isLoopbackAddress(address));
  if (!addresses.every(isPermitted)) throw new TargetBlocked('its name leads into a private network');
  return addresses;
}

async function ask(name: string, resolver: Resolver, signal: AbortSignal): Promise<readonly string[]> {
  try {
    // A DNS lookup cannot be cancelled.
    const addresses = await orAborted(resolver(name), signal);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    signal.throwIfAborted();
    throw new TargetUnreachable(describeNetworkError(error), { cause: error });
  }
  throw new TargetUnreachable('its name has no address');
}

/** Starts a TCP connection. */
type Dial = (address: string, port: number) => Socket;

/** Receives only addresses, so nothing is resolved a second time. */
const systemDial: Dial = (address, port) => connect({ host: address, port });

interface Endpoint {
  /** The name that the certificate must have, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Permitted addresses, tried in order. */
  readonly addresses: readonly string[];
}

/** 10 s per address: enough for three lost packets, and the next address can still be tried. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Connects to the first address that answers, with TLS if the endpoint is secure. The HTTP library receives a connected
 * socket, so it resolves nothing: its `lookup` hook is skipped for numeric addresses.
 * @throws TargetBlocked if the socket is connected to another address, TargetUnreachable, the signal's reason
 */
async function openConnection(endpoint: Endpoint, dial: Dial, signal: AbortSignal): Promise<Socket> {
  let failure: unknown = new TargetUnreachable('its name has no address');
  for (const address of endpoint.addresses) {
    signal.throwIfAborted();
    try {
      return await openOne(endpoint, address, dial, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof TargetBlocked) throw error;
      failure = new TargetUnreachable(describeNetworkError(error), { cause: error });
    }
  }
  throw failure;
}

async function openOne(
  endpoint: Endpoint,
  address: string,
  dial: Dial,
  signal: AbortSignal,
): Promise<Socket> {
  // Loaded here, because it takes a twentieth of a start and most services send no requests. Loaded before the socket
  // exists, because the socket would have no error listener in the meantime.
  const tls = endpoint.isSecure ? await import('node:tls') : null;
  const socket = dial(address, endpoint.port);
  try {
    await arrival(socket, 'connect', signal);
    // Nothing has been sent yet, so a redirected socket is harmless.
    if (!isSameAddress(socket.remoteAddress ?? '', address)) {
      throw new TargetBlocked('the connection led to another address than the one that was checked');
    }
    if (tls === null) return socket;
    // In TLS, an address is not a server name (RFC 6066), but it is still compared with the certificate.
    const name = isIP(endpoint.host) === 0 ? { servername: endpoint.host } : {};
    const secured = tls.connect({ socket, host: endpoint.host, ALPNProtocols: ['http/1.1'], ...name });
    await arrival(secured, 'secureConnect', signal);
    return secured;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function arrival(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      socket.setTimeout(0);
      socket.off(event, arrive).off('error', fail).off('close', close).off('timeout', expire);
      signal.removeEventListener('abort', stop);
      end();
    };
    const abandon = (error: unknown) => {
      // A socket may report errors while it is destroyed.
      socket.on('error', () => {});
      settle(() => reject(error));
      socket.destroy();
    };
    const arrive = () => settle(resolve);
    const fail = (error: Error) => abandon(error);
    const close = () => abandon(Object.assign(new Error('closed'), { code: 'ECONNRESET' }));
    const expire = () => abandon(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' }));
    const stop = () => abandon(signal.reason);
    socket.once(event, arrive).once('error', fail).once('close', close).once('timeout', expire);
    socket.setTimeout(CONNECT_TIMEOUT_MS);
    signal.addEventListener('abort', stop, { once: true });
  });
}

// Not imported, for the same reason as in the server: an import loads all of undici.
const { request: send } = process.getBuiltinModule('node:http');

/** How targets are reached. Tests pass their own names and connections. */
export interface Network {
  readonly policy: UrlPolicy;
  readonly resolver: Resolver;
  readonly dial: Dial;
}

/** Returns the network of this machine with a policy. */
export function systemNetwork(policy: UrlPolicy): Network {
  return { policy, resolver: systemResolver, dial: systemDial };
}

interface Message {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** 32 KiB of header lines, twice Node's limit for a request: some storage servers send many. */
const MAX_HEADER_BYTES = 32 * 1024;
const PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

/**
 * Checks the URL and all its addresses, connects to one of them, sends the request, and resolves with the head of the
 * answer. The caller reads the body. The signal aborts everything, including the body.
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
      // The socket is already connected, with or without TLS.
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
