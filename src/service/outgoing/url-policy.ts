/** Rules for the URLs that callers may let the service call. */
import { isIP } from 'node:net';
import { hostOf, isLoopbackHost, isPublicAddress } from '../../base/addresses.ts';
import { parseAddress } from '../../protocol/address.ts';

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

function endsIn(host: string, ending: string): boolean {
  return host === ending || host.endsWith(`.${ending}`);
}
