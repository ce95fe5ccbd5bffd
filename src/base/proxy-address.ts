/** The address of a proxy, as variables and programs set it. */
import { configurationFailure } from './failure.ts';

/** Characters that end a user name or a password, or begin a code, and what is written instead. */
const ENCODED = '% as %25, \\ as %5C, / as %2F, # as %23 and ? as %3F';

/**
 * Checks the address of a proxy. Without a scheme it is http, as curl reads it.
 * @param name of the setting; the value is not shown, because it may hold a password
 * @throws Failure (`configuration`)
 */
export function parseProxyAddress(given: string, name: string): string {
  const address = given.includes('://') ? given : `http://${given}`;
  if (isProxyAddress(URL.parse(address))) return address;
  const form = given.includes('@')
    ? `http://user:password@proxy.example.com:3128 with, in user name and password, ${ENCODED}`
    : 'http://proxy.example.com:3128';
  throw configurationFailure(
    'PROXY_INVALID',
    `${name} is not the address of an http or https proxy`,
    `Write it as ${form}, or unset it.`,
  );
}

/** A path is the rest of a password with a slash in it, or of an address with one slash after the scheme. */
function isProxyAddress(url: URL | null): boolean {
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') return false;
  return (
    url.pathname === '/' && url.search === '' && url.hash === '' && isEncoded(url.username + url.password)
  );
}

function isEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text) !== null;
  } catch {
    return false;
  }
}
