/**
 * Refuses malformed requests before any other check: requests that two programs on the network path could interpret
 * differently. Node accepts them. Source: contract, "Signing".
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostOf, isLoopbackAddress } from '../../base/addresses.ts';
import { canonicalTarget, parseQuery, TargetError } from '../../protocol/canonical.ts';
import { CLIENT_REQUEST_ID, IDEMPOTENCY_KEY } from '../../protocol/headers.ts';
import { Refusal, refuseField } from './refusal.ts';

/** The target of a valid request. */
export interface RequestTarget {
  /** Path and query in canonical form. */
  readonly canonical: string;
  /** The path alone, in canonical form. */
  readonly path: string;
  /** Parameters of the query, decoded. */
  readonly query: ReadonlyMap<string, string>;
}

/** Headers that may occur at most once. Node would join or drop the second one. */
const SINGLE_HEADERS: readonly string[] = ['host', 'content-type', IDEMPOTENCY_KEY, CLIENT_REQUEST_ID];
/** Node limits the head to 16 KiB. A client sends about ten headers, and a proxy adds as many. */
const MAX_HEADERS = 100;
const BODILESS_METHODS: readonly string[] = ['GET', 'HEAD', 'DELETE'];

function malformedRequest(detail: string): Refusal {
  return new Refusal('INVALID_REQUEST', detail, { headers: { Connection: 'close' } });
}

function checkHeaders(request: IncomingMessage, signatureStart: string): void {
  const { rawHeaders } = request;
  if (rawHeaders.length > 2 * MAX_HEADERS) throw malformedRequest(`more than ${MAX_HEADERS} headers`);
  const seen = new Set<string>();
  // Names are at even positions, each followed by its value.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    const single = SINGLE_HEADERS.includes(name) || name.startsWith(signatureStart);
    if (single && seen.has(name)) throw malformedRequest(`the header "${name}" is repeated`);
    seen.add(name);
  }
  // HTTP/1.0 has no such header: checks of HAProxy are sent without it.
  if (!seen.has('host') && request.httpVersion !== '1.0')
    throw malformedRequest('the Host header is missing');
}

function checkBody(request: IncomingMessage): void {
  if (!BODILESS_METHODS.includes(request.method ?? '')) return;
  const length = request.headers['content-length'];
  const bodied =
    request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
  if (bodied) throw malformedRequest(`${request.method} cannot have a body`);
}

function checkExpectation(request: IncomingMessage): void {
  const { expect } = request.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw malformedRequest('Expect is something other than 100-continue');
  }
}

/**
 * Checks the head of a request as it was received.
 * @param headerPrefix prefix of the names of the signature headers
 * @throws Refusal INVALID_REQUEST, after which the connection must be closed
 */
export function checkSanity(request: IncomingMessage, headerPrefix: string): RequestTarget {
  checkHeaders(request, `${headerPrefix.toLowerCase()}-`);
  checkBody(request);
  checkExpectation(request);
  const raw = request.url ?? '';
  try {
    const canonical = canonicalTarget(raw);
    const question = canonical.indexOf('?');
    if (question < 0) return { canonical, path: canonical, query: new Map() };
    return {
      canonical,
      path: canonical.slice(0, question),
      query: parseQuery(raw.slice(raw.indexOf('?') + 1)),
    };
  } catch (error) {
    if (error instanceof TargetError) throw malformedRequest(error.message);
    throw error;
  }
}

/**
 * Refuses a request within this machine under the name of another site: a web page whose name was bound to this machine could read the
 * answer (DNS rebinding). Addresses and names without a dot belong to no other site, and browsers always send the header.
 * @param origin of the service; its host is not another site
 * @throws Refusal INVALID_REQUEST
 */
export function refuseForeignHost({ headers, socket }: IncomingMessage, origin: string): void {
  const { host = '' } = headers;
  if (host === '' || !isLoopbackAddress(socket.localAddress ?? '')) return;
  const name = nameOf(`http://${host}`);
  if (name !== null && (isIP(name) !== 0 || !name.includes('.') || name === nameOf(origin))) return;
  throw refuseField(
    'host',
    `"${host.slice(0, 80)}" is not a name of this service; use its address, or set public_origin`,
  );
}

/** The host of a URL; null for other text. */
function nameOf(text: string): string | null {
  const url = URL.parse(text);
  return url && hostOf(url);
}
