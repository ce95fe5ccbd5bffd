/** Rules for the addresses that a connection may lead to. Source: the special-purpose registries of IANA. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Addresses in public ranges that reach internal services of a cloud. */
const DENIED: readonly string[] = [
  // The host agent of Azure answers at this address within every virtual machine.
  '168.63.129.16',
];

/** The only part of IPv6 that is assigned to the public internet (RFC 4291, IANA). */
const GLOBAL_IPV6: readonly [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Returns true for an address of the public internet; false for text that is not an address. IPv4 within IPv6 counts as
 * IPv4.
 */
export function isPublicAddress(text: string): boolean {
  const address = parse(text);
  if (address === null) return false;
  if (address.range() !== 'unicast' || DENIED.includes(address.toString())) return false;
  return address instanceof ipaddr.IPv4 || address.match(...GLOBAL_IPV6);
}

/** Returns true for 127.0.0.0/8 and ::1, including IPv4 within IPv6. */
export function isLoopbackAddress(text: string): boolean {
  return parse(text)?.range() === 'loopback';
}

const PRIVATE_RANGES: readonly string[] = [
  'loopback',
  'private', // RFC 1918
  'uniqueLocal', // RFC 4193
  'linkLocal', // RFC 3927 and RFC 4291
  // RFC 6598: private overlays such as Tailscale number their machines here. It is not routed on the internet.
  'carrierGradeNat',
];

/** Returns true for an address of this machine or of a private network. IPv4 within IPv6 counts as IPv4. */
function isPrivateAddress(text: string): boolean {
  const address = parse(text);
  if (address === null) return false;
  // Servers print these two as their own address, and connections to them stay on the machine.
  return PRIVATE_RANGES.includes(address.range()) || ['0.0.0.0', '::'].includes(address.toString());
}

/** Returns true if both texts are the same address, in any notation. */
export function isSameAddress(left: string, right: string): boolean {
  const address = parse(left)?.toString();
  return address !== undefined && address === parse(right)?.toString();
}

/** Node checks the notation first, because the library also accepts short and octal forms. */
function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const [bare = ''] = text.split('%', 1); // without the zone of a link-local address
  return isIP(bare) === 0 ? null : ipaddr.process(bare);
}

/** Returns true for a loopback address without brackets, and for a `localhost` name (RFC 6761). */
export function isLoopbackHost(host: string): boolean {
  return isIP(host) !== 0 ? isLoopbackAddress(host) : host === 'localhost' || host.endsWith('.localhost');
}

/** Returns the name or address without IPv6 brackets and without a final dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '');
}

/**
 * Which addresses may be connected to. `private`: this machine and private networks. `localhost` names lead to this
 * machine or nowhere.
 */
export type AddressPolicy = 'public' | 'public-or-loopback' | 'private' | 'any';

/** @param host the name that led to the address, or the address itself */
export function isPermitted(policy: AddressPolicy, host: string, address: string): boolean {
  switch (policy) {
    case 'any':
      return true;
    case 'private':
      return isPrivateAddress(address);
    case 'public-or-loopback':
      return isLoopbackAddress(address) || isPermitted('public', host, address);
    case 'public':
      // These names may be called over plain http, so they must not resolve to another machine.
      return isPublicAddress(address) && !isLoopbackHost(host);
  }
}
