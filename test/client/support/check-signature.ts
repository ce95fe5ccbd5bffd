/**
 * The signature, computed a second time from the specification alone: nothing of the code under test is used. The target
 * is taken as it came over the wire, so this also proves that the client sends the canonical form.
 */
import { createHash, createHmac } from 'node:crypto';
import type { Seen } from './scripted-server.ts';

export function expectedSignature(
  secret: string,
  parts: { method: string; target: string; timestamp: string; nonce: string; body: Buffer | string },
): string {
  const bodyHash = createHash('sha256').update(parts.body).digest('hex');
  const lines = [parts.method, parts.target, parts.timestamp, parts.nonce, bodyHash].join('\n');
  return createHmac('sha256', secret).update(lines, 'utf8').digest('hex');
}

/** True when the request as received carries the signature that it must. */
export function isSignedWith(secret: string, seen: Seen, prefix = 'x-service'): boolean {
  const header = (name: string) => String(seen.headers[`${prefix}-${name}`]);
  const expected = expectedSignature(secret, {
    method: seen.method,
    target: seen.target,
    timestamp: header('timestamp'),
    nonce: header('nonce'),
    body: seen.body,
  });
  return header('signature') === expected;
}
