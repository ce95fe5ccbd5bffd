/** Redirects of unsigned transfers. Signed requests follow none. Pure. */
import { isLoopback } from '../../protocol/loopback.ts';

/** Returns the address that a redirect leads to, or why it must not be followed. @param location the header */
export function followRedirect(from: URL, location: string | undefined): URL | string {
  if (location === undefined || !URL.canParse(location, from.href)) return 'a redirect has no address';
  const url = new URL(location, from);
  // http is only allowed within one machine; a redirect never turns an https transfer into a plain one.
  const staysLocal = from.protocol === 'http:' && url.protocol === 'http:' && isLoopback(url);
  return url.protocol === 'https:' || staysLocal ? url : 'a redirect leads away from https';
}
