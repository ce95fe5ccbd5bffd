/** Which addresses the service may connect to. Source: the special-purpose registries of IANA. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Addresses that are public by their range and yet lead inside a cloud. */
const DENIED: readonly string[] = [
  // The host agent of Azure answers here within every virtual machine.
  '168.63.129.16',
];

/** The only part of IPv6 that is given out for the public internet (RFC 4291, IANA). */
const GLOBAL_IPV6: readonly [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** True for an address of the public internet; false for text that is no address. IPv4 within IPv6 counts as IPv4. */
export function isPublicAddress(text: string): boolean {
  const address = parse(text);
  if (address === null) return false;
  if (address.range() !== 'unicast' || DENIED.includes(address.toString())) return false;
  return address instanceof ipaddr.IPv4 || address.match(...GLOBAL_IPV6);
}

/** True for 127.0.0.0/8 and ::1, also where IPv4 is written within IPv6. */
export function isLoopbackAddress(text: string): boolean {
  return parse(text)?.range() === 'loopback';
}

/** True when both texts mean one address, in whatever form they are written. */
export function isSameAddress(left: string, right: string): boolean {
  const address = parse(left)?.toString();
  return address !== undefined && address === parse(right)?.toString();
}

/** Node decides what an address is: the library also takes short and octal forms. */
function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return isIP(text) === 0 ? null : ipaddr.process(text);
}
