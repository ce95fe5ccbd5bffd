/** Where a request comes from: the other end of the connection, or, behind a trusted proxy, whom that one names. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isAddressAllowed } from '../auth/allow-list.ts';

export type AddressReader = (request: IncomingMessage) => string | undefined;

/**
 * Makes a reader of addresses. `X-Forwarded-For` is read from its end, as far as trusted proxies wrote it: what stands
 * before that may be anybody's invention.
 * @param trusted addresses and networks of proxies; with none the header is not looked at
 */
export function createAddressReader(trusted: readonly string[]): AddressReader {
  const list = trusted.join(',');
  const isTrusted = (address: string | undefined) => list !== '' && isAddressAllowed(list, address);
  return ({ socket, headers }) => {
    const header = headers['x-forwarded-for'];
    const hops = typeof header === 'string' ? header.split(',') : [];
    let address = socket.remoteAddress;
    while (isTrusted(address)) {
      const hop = hops.pop();
      if (hop === undefined) break;
      // A hop that is no address leaves nobody to trust: the request then comes from nowhere.
      address = readHop(hop);
    }
    return address;
  };
}

/** `192.0.2.1`, `192.0.2.1:443`, `2001:db8::1` or `[2001:db8::1]:443`; undefined for anything else. */
function readHop(hop: string): string | undefined {
  const text = hop.trim();
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1];
  const ported = /^([\d.]+):\d+$/.exec(text)?.[1];
  const address = bracketed ?? ported ?? text;
  return isIP(address) === 0 ? undefined : address;
}
