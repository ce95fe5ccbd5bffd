/** Headers of the PUT: those that the service dictates, without any that would change who asks or how much is sent. */

import { Failure } from '../../errors/failure.ts';
import { IDEMPOTENCY_KEY } from '../../protocol/headers.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** Visible ASCII, space and tab, and what is beyond ASCII: above all no line break. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Set by the client itself, or about the connection and not the object. */
const OWN = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'accept-encoding',
  IDEMPOTENCY_KEY,
]);

/**
 * @param given names in lower case
 * @param size of the file in bytes
 * @throws Failure for a name or value that cannot stand in a header
 */
export function targetHeaders(
  given: Readonly<Record<string, string>>,
  headerPrefix: string,
  size: number,
  userAgent: string,
): Record<string, string> {
  const signed = `${headerPrefix.toLowerCase()}-`;
  const headers: Record<string, string> = { 'user-agent': userAgent, 'content-length': String(size) };
  for (const [name, value] of Object.entries(given)) {
    if (!TOKEN.test(name) || !VALUE.test(value)) throw invalidHeader();
    if (!OWN.has(name) && !name.startsWith(signed)) headers[name] = value;
  }
  return headers;
}

function invalidHeader(): Failure {
  return new Failure({
    category: 'refused',
    code: 'ANSWER_INCOMPLETE',
    message: 'the field `upload_request.headers` of the upload contains a malformed header',
    advice: 'Nothing was sent: report it to the operator of the service.',
  });
}
