/** Finds the address of a caller, and checks from which addresses a key may be used. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';

/** Compiled lists, by their text. */
const compiled = new Map<string, BlockList>();

/** Parses comma-separated addresses and networks. Throws for an invalid entry. */
export function compileAllowList(text: string): BlockList {
  const list = new BlockList();
  if (text === '') return list;
  for (const entry of text.split(',')) {
    const [address = '', bits] = entry.trim().split('/');
    const family = familyOf(address);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/**
 * Returns true if the list is empty or contains the address. An IPv4 address within IPv6 counts as IPv4.
 * @param text comma-separated addresses and networks
 */
export function isAddressAllowed(text: string, address: string | undefined): boolean {
  if (text === '') return true;
  if (address === undefined || isIP(address) === 0) return false;
  let list = compiled.get(text);
  if (list === undefined) {
    list = compileAllowList(text);
    compiled.set(text, list);
  }
  return list.check(address, familyOf(address));
}

export type AddressReader = (request: IncomingMessage) => string | undefined;

/**
 * Creates a reader of the caller's address: the other end of the socket or, behind trusted proxies, the address that
 * they report. `X-Forwarded-For` is read from its end, as far as trusted proxies wrote it; the rest may be forged by
 * the caller.
 * @param trusted addresses and networks of proxies; if empty, the header is ignored
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
      // An entry that is not an address ends the chain of trust: the caller is then unknown.
      address = readHop(hop);
    }
    return address;
  };
}

/** Parses `192.0.2.1`, `192.0.2.1:443`, `2001:db8::1` or `[2001:db8::1]:443`. Returns undefined for anything else. */
function readHop(hop: string): string | undefined {
  const text = hop.trim();
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1];
  const ported = /^([\d.]+):\d+$/.exec(text)?.[1];
  const address = bracketed ?? ported ?? text;
  return isIP(address) === 0 ? undefined : address;
}
