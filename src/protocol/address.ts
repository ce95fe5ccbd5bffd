/**
 * The only parser of web addresses from callers, servers and files: sources, callbacks, redirects. Programs disagree
 * about sloppy addresses (`https://example.com\@127.0.0.1/` leads to either host), so only strict ones are accepted.
 */

/**
 * A URL parser drops line breaks and NUL, trims spaces, and reads a backslash as a slash. Other programs do not, but the
 * address that was checked must be the one that is called.
 */
export const ADDRESS_CHARACTERS = /^[^\s\p{Cc}\\]*$/u;

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
/** A URL parser accepts any number of slashes before the host, even none. */
const WEB = /^https?:/i;
const STRICT_WEB = /^https?:\/\/[^/?#]/i;

/**
 * Parses an absolute address of any scheme. Returns null if it is malformed.
 * @param base an absolute address; relative ones are then permitted too
 */
export function parseAddress(text: string, base?: string): URL | null {
  if (!ADDRESS_CHARACTERS.test(text)) return null;
  if (base === undefined && !SCHEME.test(text)) return null;
  if (WEB.test(text) && !STRICT_WEB.test(text)) return null;
  return URL.parse(text, base);
}
