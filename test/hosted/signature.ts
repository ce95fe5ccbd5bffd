/** The check of a signature, written from the specification alone. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Source: specification, "Authentication". */
const SKEW_SECONDS = 300;

export interface Account {
  readonly prefix: string;
  readonly key: string;
  readonly secret: string;
}

/** Why a request is not genuine; null when it is. The target is taken as it came. */
export function faultOf(
  { prefix, key, secret }: Account,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  nonces: Set<string>,
): string | null {
  const header = (name: string) => headers[`${prefix}-${name}`.toLowerCase()];
  const [timestamp, nonce, signature] = [header('Timestamp'), header('Nonce'), header('Signature')];
  if (header('Key') !== key) return 'unknown key';
  if (typeof timestamp !== 'string' || Math.abs(Date.now() / 1000 - Number(timestamp)) > SKEW_SECONDS) {
    return 'stale timestamp';
  }
  if (typeof nonce !== 'string' || nonces.has(nonce)) return 'nonce missing or used';
  const digest = createHash('sha256').update(body).digest('hex');
  const canonical = [method, url, timestamp, nonce, digest].join('\n');
  const expected = createHmac('sha256', secret).update(canonical).digest();
  const given = Buffer.from(typeof signature === 'string' ? signature : '', 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'wrong signature';
  nonces.add(nonce);
  return null;
}

/** A webhook's signature with its parts joined by dots. */
export function dottedSignature(secret: string, timestamp: string, id: string, body: Buffer): string {
  const digest = createHash('sha256').update(body).digest('hex');
  return createHmac('sha256', secret).update([timestamp, id, digest].join('.')).digest('hex');
}
