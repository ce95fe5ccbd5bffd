/** Connections to addresses that a policy permits: DNS lookup, check, connection, check of the peer, TLS. */
import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { type AddressPolicy, hostOf, isPermitted, isSameAddress } from './addresses.ts';
import { orAborted } from './together.ts';

/** The policy forbids the target: nothing was sent, and a retry does not help unless the target changes. */
export class AddressBlocked extends Error {
  override readonly name = 'AddressBlocked';
}

/** How names and addresses are reached. Tests pass their own. */
export interface Network {
  /** Returns all addresses of a name, with aliases followed. */
  readonly resolver: (name: string) => Promise<readonly string[]>;
  /** Starts a TCP connection to an address. */
  readonly dial: (address: string, port: number) => Socket;
}

/** Resolves with the system's hosts file and name servers. `dial` receives only addresses, so nothing is resolved twice. */
export const SYSTEM_NETWORK: Network = {
  resolver: async (name) => {
    const answers = await lookup(name, { all: true, order: 'verbatim' });
    return answers.map(({ address }) => address);
  },
  dial: (address, port) => connect({ host: address, port }),
};

/**
 * Resolves a host and checks that each of its addresses is permitted. A name with both permitted and forbidden
 * addresses is refused, because only an attacker uses one.
 * @param host name, or address without brackets
 * @throws AddressBlocked; an error of the lookup; the signal's reason
 */
export async function resolvePermitted(
  host: string,
  policy: AddressPolicy,
  resolver: Network['resolver'],
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  // A DNS lookup cannot be cancelled.
  const addresses = isIP(host) === 0 ? await orAborted(resolver(host), signal) : [host];
  if (addresses.length === 0) throw withCode('the name has no address', 'ENOTFOUND');
  if (!addresses.every((address) => isPermitted(policy, host, address))) {
    throw new AddressBlocked('its name leads into a private network');
  }
  return addresses;
}

interface Endpoint {
  /** The name that the certificate must have, or an address; without brackets and final dot. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

const PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

/** Returns where the connection of a URL leads to. */
export function endpointOf(url: URL): Endpoint {
  const port = url.port === '' ? (PORTS[url.protocol] ?? 0) : Number(url.port);
  return { host: hostOf(url), port, isSecure: url.protocol === 'https:' };
}

/**
 * Opens a connection to the first address of a host that answers, with TLS if the endpoint is secure.
 * @throws AddressBlocked if one of its addresses is not permitted, or if the socket is connected to another one than was
 *   checked; the network error of the last address; the signal's reason
 */
export async function openChecked(
  endpoint: Endpoint,
  policy: AddressPolicy,
  signal: AbortSignal | undefined,
  network: Network = SYSTEM_NETWORK,
): Promise<Socket> {
  const addresses = await resolvePermitted(endpoint.host, policy, network.resolver, signal);
  let failure: unknown;
  for (const address of addresses) {
    signal?.throwIfAborted();
    try {
      return await openOne(endpoint, address, network.dial, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof AddressBlocked) throw error;
      failure = error;
    }
  }
  throw failure;
}

async function openOne(
  endpoint: Endpoint,
  address: string,
  dial: Network['dial'],
  signal: AbortSignal | undefined,
): Promise<Socket> {
  // Loaded here, because it takes a twentieth of a start and most services send no requests. Loaded before the socket
  // exists, because the socket would have no error listener in the meantime.
  const tls = endpoint.isSecure ? await import('node:tls') : null;
  const socket = dial(address, endpoint.port);
  try {
    await arrival(socket, 'connect', signal);
    // Nothing has been sent yet, so a redirected socket is harmless.
    if (!isSameAddress(socket.remoteAddress ?? '', address)) {
      throw new AddressBlocked('the connection led to another address than the one that was checked');
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

/** 10 s per address: enough for three lost packets, and the next address can still be tried. */
const CONNECT_TIMEOUT_MS = 10_000;

function arrival(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      socket.setTimeout(0);
      socket.off(event, arrive).off('error', fail).off('close', close).off('timeout', expire);
      signal?.removeEventListener('abort', stop);
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
    const close = () => abandon(withCode('closed', 'ECONNRESET'));
    const expire = () => abandon(withCode('timed out', 'ETIMEDOUT'));
    const stop = () => abandon(signal?.reason);
    socket.once(event, arrive).once('error', fail).once('close', close).once('timeout', expire);
    socket.setTimeout(CONNECT_TIMEOUT_MS);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
