/** Which URLs the service may call, as far as the text alone tells. What a name leads to is checked by `resolve.ts`. */
import { isIP } from 'node:net';
import { isLoopbackAddress, isPublicAddress } from './addresses.ts';

export interface UrlPolicy {
  /** Also permits this machine: http and https on any port, by loopback address or `localhost` name. */
  readonly allowLoopback: boolean;
}

/** Either the URL to call, or why it may not be called, in words that complete "the address …". */
export type CheckedUrl =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly reason: string };

/** Ends of names that never belong to the public internet. */
const LOCAL_ENDINGS: readonly string[] = [
  'localhost', // RFC 6761
  'local', // RFC 6762
  'internal', // set aside by ICANN for private use; cloud metadata lies here
  'home.arpa', // RFC 8375
  'localdomain', // what installers call a machine without a domain
  'lan', // what routers call their own network
];

const HTTPS_ONLY = 'must start with https://';

/**
 * Checks a URL before anything is looked up: public https on port 443, without user name or password.
 * @param text as a caller or a redirect wrote it, absolute
 */
export function checkUrl(text: string, policy: UrlPolicy): CheckedUrl {
  const url = URL.parse(text);
  if (url === null) return refuse('is not well formed');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse(HTTPS_ONLY);
  if (url.username !== '' || url.password !== '') return refuse('must not hold a user name or password');
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

/** Name or address without the brackets of IPv6 and without the dot that ends a full name. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '');
}

/** The parser has already turned octal, hexadecimal, short and full-width forms into plain addresses. */
function isPublicHost(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  // A name without a dot is completed with the domain of the service's own network.
  if (!host.includes('.')) return false;
  return !LOCAL_ENDINGS.some((ending) => endsIn(host, ending));
}

/** True when a URL names this machine, by loopback address or `localhost` name. */
export function isLoopbackUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && isLoopbackHost(hostOf(url));
}

/** True for a loopback address without brackets, and for a `localhost` name. */
export function isLoopbackHost(host: string): boolean {
  return isIP(host) !== 0 ? isLoopbackAddress(host) : endsIn(host, 'localhost');
}

function endsIn(host: string, ending: string): boolean {
  return host === ending || host.endsWith(`.${ending}`);
}
