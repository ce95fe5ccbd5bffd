/** The headers of one attempt. Source: specification, "Authentication"; contract, "Signing". */
import { type AuthHeaderNames, IDEMPOTENCY_KEY } from '../../protocol/headers.ts';
import { EMPTY_SHA256, sha256Hex, signRequest } from '../../protocol/signature.ts';

export interface Credentials {
  readonly key: string;
  readonly secret: string;
  readonly names: AuthHeaderNames;
}

/** What stays the same over all attempts of a call. */
export interface SignableRequest {
  readonly method: string;
  readonly signedTarget: string;
  readonly body: Buffer | null;
  /** Lower-case hex of the body, computed once. */
  readonly bodySha256: string;
  readonly idempotencyKey: string | null;
}

/** The SHA-256 that is signed for a body; zero bytes when there is none. */
export function hashBody(body: Buffer | null): string {
  return body === null ? EMPTY_SHA256 : sha256Hex(body);
}

/**
 * Signs one attempt.
 * @param moment `timeMs` as the service sees it, `nonce` never used before
 */
export function signedHeaders(
  credentials: Credentials,
  request: SignableRequest,
  moment: { timeMs: number; nonce: string },
): Record<string, string> {
  const { key, secret, names } = credentials;
  const timestamp = String(Math.floor(moment.timeMs / 1000));
  const signature = signRequest(secret, {
    method: request.method,
    target: request.signedTarget,
    timestamp,
    nonce: moment.nonce,
    bodySha256: request.bodySha256,
  });
  return {
    [names.key]: key,
    [names.timestamp]: timestamp,
    [names.nonce]: moment.nonce,
    [names.signature]: signature,
    ...(request.body === null ? {} : { 'content-type': 'application/json' }),
    ...(request.idempotencyKey === null ? {} : { [IDEMPOTENCY_KEY]: request.idempotencyKey }),
  };
}
