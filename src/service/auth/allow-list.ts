/** From which addresses a key may be used. The address is the socket's: a header could say anything. */
import { BlockList, isIP, isIPv6 } from 'node:net';

/** Compiled lists by their text; there are as many as there are different lists. */
const compiled = new Map<string, BlockList>();

/** Reads addresses and networks with commas between them; throws for an entry that is neither. */
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
 * True when the list is empty or holds the address; an IPv4 address within IPv6 counts as the IPv4 one.
 * @param text addresses and networks with commas between them
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
