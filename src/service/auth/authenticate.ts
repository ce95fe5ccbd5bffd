/**
 * Identifies the caller and checks their permissions. The order of the checks is defined in the contract, "Signing".
 * Source: specification, "Authentication" 1.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { equalInConstantTime } from '../../protocol/constant-time.ts';
import { authHeaderNames } from '../../protocol/headers.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Operation } from '../../protocol/operations.ts';
import { EMPTY_SHA256, sha256Hex, signRequest } from '../../protocol/signature.ts';
import type { ServiceConfig } from '../config.ts';
import { Refusal } from '../http/refusal.ts';
import type { Statements } from '../store/store.ts';
import { isAddressAllowed } from './caller-address.ts';
import { findValidKey, type KeyRow, permissionsOf } from './keys.ts';
import type { NonceMemory } from './nonces.ts';

export interface AuthHeaders {
  readonly key: string;
  /** Unix seconds as sent. */
  readonly timestamp: string;
  readonly nonce: string;
  readonly signature: string;
}

const { min, max } = LIMITS.nonceLength;

const FORMS = {
  // spec: open — visible ASCII that fits on one line. Keys of this service are shorter.
  key: { pattern: /^[\x21-\x7e]{1,128}$/, detail: 'the identifier of the key is missing or not well formed' },
  timestamp: { pattern: /^\d{10}$/, detail: 'must be Unix time in seconds, ten digits' },
  nonce: {
    pattern: new RegExp(`^[A-Za-z0-9_-]{${min},${max}}$`),
    detail: `must be ${min} to ${max} characters of base64url`,
  },
  signature: { pattern: /^[0-9a-f]{64}$/, detail: 'must be 64 lower-case hexadecimal digits' },
} as const satisfies Record<keyof AuthHeaders, { pattern: RegExp; detail: string }>;

export type AuthHeaderReader = (
  headers: IncomingHttpHeaders,
) => { ok: true; value: AuthHeaders } | { ok: false; header: string; detail: string };

/** Creates a reader of the four signature headers with a prefix. It reports the first invalid header. */
export function createAuthHeaderReader(prefix: string): AuthHeaderReader {
  const names = authHeaderNames(prefix);
  return (headers) => {
    const text = (name: string) => {
      const value = headers[name];
      return typeof value === 'string' ? value : '';
    };
    const value: AuthHeaders = {
      key: text(names.key),
      timestamp: text(names.timestamp),
      nonce: text(names.nonce),
      signature: text(names.signature),
    };
    for (const part of ['key', 'timestamp', 'nonce', 'signature'] as const) {
      const { pattern, detail } = FORMS[part];
      if (!pattern.test(value[part])) return { ok: false, header: names[part], detail };
    }
    return { ok: true, value };
  };
}

/** Used instead of the secret of an unknown key, so that the check takes as long as for a known one. */
const DECOY_SECRET = 'A'.repeat(43);

/** Refuses a timestamp that differs more than 300 s from the service's clock, before the body is read. */
export function checkTimestamp(timestamp: string, now: number): void {
  const skew = Math.abs(Math.floor(now / 1000) - Number(timestamp));
  if (skew > LIMITS.timestampSkewSeconds) {
    throw new Refusal(
      'AUTHENTICATION_FAILED',
      `the timestamp is ${skew} s away from the time of the service; ${LIMITS.timestampSkewSeconds} s are allowed`,
    );
  }
}

/**
 * Checks the signature, then records the nonce as used.
 * @param target path and query in canonical form
 * @throws Refusal AUTHENTICATION_FAILED, with the same message for an unknown key and a wrong signature
 */
export async function authenticateRequest(
  { store, nonces }: { readonly store: Statements; readonly nonces: NonceMemory },
  headers: AuthHeaders,
  signed: { method: string; target: string; body: Uint8Array; now: number },
): Promise<KeyRow> {
  const key = await findValidKey(store, headers.key);
  const expected = signRequest(key?.secret ?? DECOY_SECRET, {
    method: signed.method,
    target: signed.target,
    timestamp: headers.timestamp,
    nonce: headers.nonce,
    bodySha256: signed.body.length === 0 ? EMPTY_SHA256 : sha256Hex(signed.body),
  });
  if (!equalInConstantTime(expected, headers.signature) || key === undefined) {
    throw new Refusal('AUTHENTICATION_FAILED', 'the key is unknown or the signature is wrong');
  }
  if (!(await nonces.remember(key.id, headers.nonce, signed.now))) {
    throw new Refusal('AUTHENTICATION_FAILED', 'the nonce was used before; every attempt needs a new one');
  }
  return key;
}

/**
 * Checks what the key and the plan permit.
 * @throws Refusal SOURCE_IP_NOT_ALLOWED, API_ACCESS_NOT_INCLUDED_IN_PLAN, CAPABILITY_NOT_PERMITTED
 */
export function checkAccess(
  { planEndsAt }: Pick<ServiceConfig, 'planEndsAt'>,
  key: KeyRow,
  caller: { address: string | undefined; operation: Operation; now: number },
): void {
  if (!isAddressAllowed(key.allowed_addresses, caller.address)) {
    throw new Refusal('SOURCE_IP_NOT_ALLOWED', `the key may not be used from ${caller.address ?? 'here'}`);
  }
  if (planEndsAt !== null && planEndsAt <= caller.now) {
    throw new Refusal(
      'API_ACCESS_NOT_INCLUDED_IN_PLAN',
      "the workspace owner's enterprise plan is not active",
    );
  }
  const { kind } = caller.operation;
  if (kind !== null && !permissionsOf(key).includes(kind)) {
    throw new Refusal('CAPABILITY_NOT_PERMITTED', `the key has no permission for ${kind}`);
  }
}
