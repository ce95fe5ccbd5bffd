/** Headers that a caller adds to a signed call. */

import { Failure } from '../../errors/failure.ts';
import { IDEMPOTENCY_KEY } from '../../protocol/headers.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** Visible ASCII, space and tab: above all no line break. */
const VALUE = /^[\t\x20-\x7e]*$/;

/** Set by the client itself, or about the connection and the body. */
const OWN = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'accept-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  IDEMPOTENCY_KEY,
]);

/**
 * The headers with their names in lower case.
 * @param prefix of the names that sign a request
 * @throws Failure (`usage`) for what is no header, and for one that the client sets itself
 */
export function checkExtraHeaders(
  given: Readonly<Record<string, string>>,
  prefix: string,
): Readonly<Record<string, string>> {
  const headers = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value] as const);
  for (const [name, value] of headers) {
    if (!TOKEN.test(name) || !VALUE.test(value)) {
      throw refused(`the header "${name}" has a character that no header may have`, 'Use ASCII.');
    }
    if (OWN.has(name) || name.startsWith(`${prefix.toLowerCase()}-`)) {
      throw refused(`the header ${name} is set by vloc itself`, 'Leave it out.');
    }
  }
  return Object.fromEntries(headers);
}

function refused(message: string, advice: string): Failure {
  return new Failure({ category: 'usage', code: 'HEADER_INVALID', message, advice });
}
