/** Which URLs and addresses the service may call. Source: the special-purpose registries of IANA. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseAddress } from '../../protocol/address.ts';

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

/** Returns true if both texts are the same address, in any notation. */
export function isSameAddress(left: string, right: string): boolean {
  const address = parse(left)?.toString();
  return address !== undefined && address === parse(right)?.toString();
}

/** Node checks the notation first, because the library also accepts short and octal forms. */
function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return isIP(text) === 0 ? null : ipaddr.process(text);
}

export interface UrlPolicy {
  /** Also permits this machine: http and https on any port, by loopback address or `localhost` name. */
  readonly allowLoopback: boolean;
}

/** The URL to call, or why it may not be called. `reason` completes the sentence "the address …". */
type CheckedUrl = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly reason: string };

/** Name suffixes that never belong to the public internet. */
const LOCAL_ENDINGS: readonly string[] = [
  'localhost', // RFC 6761
  'local', // RFC 6762
  'internal', // reserved by ICANN for private use; cloud metadata is here
  'home.arpa', // RFC 8375
  'localdomain', // used by installers for a machine without a domain
  'lan', // used by routers for their own network
];

const HTTPS_ONLY = 'must start with https://';

/**
 * Checks the text of a URL before its name is resolved: public https on port 443, without user name or password.
 * @param text absolute URL from a caller or a redirect
 */
export function checkUrl(text: string, policy: UrlPolicy): CheckedUrl {
  const url = parseAddress(text);
  if (url === null) return refuse('is not well formed');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse(HTTPS_ONLY);
  if (url.username !== '' || url.password !== '') return refuse('must not contain a user name or password');
  const host = hostOf(url);
  if (policy.allowLoopback && isLoopbackHost(host)) return { ok: true, url };
  if (url.protocol !== 'https:') return refuse(HTTPS_ONLY);
  if (url.port !== '') return refuse('must use port 443');
  if (!isPublicHost(host)) return refuse('must lead to a public host, not into a private network');
  return { ok: true, url };
}

function refuse(reason: string): CheckedUrl {
  return { ok: false, reason };
}

/** Returns the name or address without IPv6 brackets and without a final dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '');
}

/** The URL parser has already normalized octal, hexadecimal, short and full-width forms of addresses. */
function isPublicHost(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  // Resolvers append the domain of their own network to a name without a dot.
  if (!host.includes('.')) return false;
  return !LOCAL_ENDINGS.some((ending) => endsIn(host, ending));
}

/** Returns true if a URL points to this machine, by loopback address or `localhost` name. */
export function isLoopbackUrl(text: string): boolean {
  const url = parseAddress(text);
  return url !== null && isLoopbackHost(hostOf(url));
}

/** Returns true for a loopback address without brackets, and for a `localhost` name. */
export function isLoopbackHost(host: string): boolean {
  return isIP(host) !== 0 ? isLoopbackAddress(host) : endsIn(host, 'localhost');
}

function endsIn(host: string, ending: string): boolean {
  return host === ending || host.endsWith(`.${ending}`);
}
