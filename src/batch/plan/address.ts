/** Addresses where a file could be named too. */

/** What is said of every other one. */
export const ONLY_HTTPS = 'the service reads https addresses only';

/** True for an address of any scheme: one that the service does not fetch is no file either. */
export function isAddress(text: string): boolean {
  // Of one letter it would be a drive of Windows.
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(text);
}

export function isHttps(text: string): boolean {
  return /^https:\/\//i.test(text);
}
