/** The address of the service, and which addresses it may return for transfers. */

import { configurationFailure, type Failure } from '../../base/failure.ts';
import { isLoopback } from '../../protocol/loopback.ts';
import { VERSION_PREFIX } from '../../protocol/operations.ts';

export interface BaseUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** What a gateway puts before the version; empty for most. It is sent, but not signed. */
  readonly gateway: string;
  readonly loopback: boolean;
}

function baseUrlFailure(text: string, must: string): Failure {
  // Before an @ there may be a password, and in a query a key.
  const shown = /[@?#]/.test(text) ? '' : ` "${text}"`;
  return configurationFailure(
    'BASE_URL_INVALID',
    `invalid base URL${shown}: must ${must}`,
    'Set an address such as https://api.example.com/v1.',
  );
}

/**
 * Checks the address given by the user.
 * @throws Failure (`configuration`) unless it is https, or http to this machine, and ends in the version
 */
export function parseBaseUrl(text: string): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw baseUrlFailure(text, 'start with https://');
  const loopback = isLoopback(url);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback)) {
    throw baseUrlFailure(text, 'start with https://, except on this machine');
  }
  if (url.username !== '' || url.password !== '')
    throw baseUrlFailure(text, 'not contain a user name or password');
  if (url.search !== '' || url.hash !== '') throw baseUrlFailure(text, 'not have a query or a fragment');
  const path = url.pathname.replace(/\/+$/, '');
  if (!path.endsWith(VERSION_PREFIX)) throw baseUrlFailure(text, `end in ${VERSION_PREFIX}`);
  return { origin: url.origin, gateway: path.slice(0, -VERSION_PREFIX.length), loopback };
}

/**
 * Resolves an address that the service returned for a transfer (pre-signed upload, download); null unless it is https, or
 * http on this machine while the service runs on this machine too.
 */
export function resolveTransferUrl(base: BaseUrl, text: string): URL | null {
  if (!URL.canParse(text, base.origin)) return null;
  const url = new URL(text, base.origin);
  if (url.username !== '' || url.password !== '') return null;
  if (url.protocol === 'https:') return url;
  return url.protocol === 'http:' && base.loopback && isLoopback(url) ? url : null;
}
