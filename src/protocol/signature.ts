/** Signatures of requests. Source: specification, "Authentication" 3 to 5. */
import { createHash, createHmac } from 'node:crypto';
import { canonicalTarget } from './canonical.ts';

/** The signed data: `target` as in the request line, `timestamp` in Unix seconds, `bodySha256` in lower-case hex. */
interface SignedParts {
  readonly method: string;
  readonly target: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly bodySha256: string;
}

/** SHA-256 of zero bytes, for a request without a body. */
export const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Returns the SHA-256 of the bytes actually sent, in lower-case hex. */
export function sha256Hex(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Returns the five lines, joined with newlines, without a final newline. @throws TargetError for a target without
 * canonical form
 */
export function canonicalRequest(parts: SignedParts): string {
  const { method, target, timestamp, nonce, bodySha256 } = parts;
  return [method.toUpperCase(), canonicalTarget(target), timestamp, nonce, bodySha256].join('\n');
}

/** Returns the HMAC-SHA256 of the canonical request in lower-case hex. The key is the UTF-8 bytes of the secret. */
export function signRequest(secret: string, parts: SignedParts): string {
  return createHmac('sha256', secret).update(canonicalRequest(parts)).digest('hex');
}
