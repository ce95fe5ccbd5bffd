/**
 * The suite's own signer, written from the specification ("Authentication" 3 to 5) and the decisions on the canonical
 * path and query. It shares no code with the client and the service.
 */
import { createHash, createHmac } from 'node:crypto';

export interface Credentials {
  readonly key: string;
  readonly secret: string;
}

export type Query = readonly (readonly [name: string, value: string])[];

export interface Signed {
  readonly method: string;
  /** Path with the version prefix, and the query, both in canonical form. */
  readonly target: string;
  /** Unix seconds. */
  readonly timestamp: string;
  readonly nonce: string;
  readonly body: Buffer;
}

/** Percent-encodes as in RFC 3986: only letters, digits and `-._~` stay. */
function encode(text: string): string {
  return Array.from(Buffer.from(text, 'utf8'), (byte) => {
    const character = String.fromCharCode(byte);
    if (/[A-Za-z0-9\-._~]/.test(character)) return character;
    return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

/** Returns path and query in canonical form: parameters sorted by name, then value, in byte order. */
export function formatTarget(path: string, query: Query): string {
  if (query.length === 0) return path;
  const pairs = query.map(([name, value]) => [encode(name), encode(value)] as const);
  const sorted = pairs.toSorted(([leftName, leftValue], [rightName, rightValue]) =>
    leftName === rightName ? compare(leftValue, rightValue) : compare(leftName, rightName),
  );
  return `${path}?${sorted.map(([name, value]) => `${name}=${value}`).join('&')}`;
}

function compare(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** Returns the five lines. */
function canonicalRequest({ method, target, timestamp, nonce, body }: Signed): string {
  const digest = createHash('sha256').update(body).digest('hex');
  return [method, target, timestamp, nonce, digest].join('\n');
}

/** Returns the HMAC-SHA256 of the five lines in lower-case hex. */
export function signatureOf(secret: string, signed: Signed): string {
  return createHmac('sha256', secret).update(canonicalRequest(signed)).digest('hex');
}
