/** Header prefixes that a service may expect. Its documentation names the right one; the specification shows only `X-Service`. */
import { isIP } from 'node:net';
import { DEFAULT_HEADER_PREFIX } from '../protocol/headers.ts';

/** Parts of host names that are not the name of a vendor. */
const NO_VENDOR: ReadonlySet<string> = new Set(['api', 'www', 'co', 'com']);
/** Characters that are valid in a host name and in a header name. */
const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
/** Such as the product and the vendor of video.acme.com. */
const MOST_OF_HOST = 2;

/**
 * The prefixes to try at an address, the likeliest first: that of the specification and of `vloc serve`, those named after the
 * vendor, as the host name has it (api.acme.com: `X-Acme`), and that of the common header `X-Api-Key`.
 */
export function usualPrefixes(baseUrl: string): readonly string[] {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '');
  const labels = isIP(host) === 0 ? host.split('.').slice(0, -1) : [];
  const vendors = labels.filter((label) => !NO_VENDOR.has(label) && NAME.test(label)).toReversed();
  const named = vendors
    .slice(0, MOST_OF_HOST)
    .map((label) => `X-${label[0]?.toUpperCase()}${label.slice(1)}`);
  return [...new Set([DEFAULT_HEADER_PREFIX, ...named, 'X-Api'])];
}
