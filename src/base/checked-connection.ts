/** Connections to addresses that a policy permits: DNS lookup, check, connection, check of the peer. */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
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
  /** Name or address, without brackets and final dot. */
  readonly host: string;
  readonly port: number;
}

const PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

/** Returns where the connection of a URL leads to. */
export function endpointOf(url: URL): Endpoint {
  return { host: hostOf(url), port: url.port === '' ? (PORTS[url.protocol] ?? 0) : Number(url.port) };
}

/**
 * Opens a TCP connection to the first address of a host that answers.
 * @throws AddressBlocked if one of its addresses is not permitted, or if the socket is connected to another one than was
 *   checked; the network error of the last address; the signal's reason
 */
export async function openChecked(
  { host, port }: Endpoint,
  policy: AddressPolicy,
  signal: AbortSignal,
  network: Network = SYSTEM_NETWORK,
): Promise<Socket> {
  const addresses = await resolvePermitted(host, policy, network.resolver, signal);
  let failure: unknown;
  for (const address of addresses) {
    signal.throwIfAborted();
    try {
      return await openOne(network.dial(address, port), address, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AddressBlocked) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** 10 s per address: enough for three lost packets, and the next address can still be tried. */
const CONNECT_TIMEOUT_MS = 10_000;

async function openOne(socket: Socket, address: string, signal: AbortSignal): Promise<Socket> {
  const expire = () => socket.destroy(withCode('timed out', 'ETIMEDOUT'));
  try {
    socket.setTimeout(CONNECT_TIMEOUT_MS, expire);
    await once(socket, 'connect', { signal });
    // Nothing has been sent yet, so a redirected socket is harmless.
    if (!isSameAddress(socket.remoteAddress ?? '', address)) {
      throw new AddressBlocked('the connection led to another address than the one that was checked');
    }
    return socket.setTimeout(0, expire);
  } catch (error) {
    // A socket may report errors while it is destroyed.
    socket.on('error', () => {}).destroy();
    throw error;
  }
}

function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
