/** Who calls, and whether it may. The order of the checks is the contract's, "Signing". */
import { equalInConstantTime } from '../../protocol/constant-time.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Operation } from '../../protocol/operations.ts';
import { EMPTY_SHA256, sha256Hex, signRequest } from '../../protocol/signature.ts';
import type { Context } from '../context.ts';
import { Refusal } from '../http/refusal.ts';
import { isAddressAllowed } from './allow-list.ts';
import type { AuthHeaders } from './headers.ts';
import { type KeyRow, permissionsOf } from './keys.ts';

/** What an unknown key is checked against, so that it takes as long as a known one. */
const DECOY_SECRET = 'A'.repeat(43);

/** Refuses a timestamp more than 300 s away from the clock of the service, before a body is read. */
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
 * Checks the signature, then uses up the nonce.
 * @param target path and query in canonical form
 * @throws Refusal AUTHENTICATION_FAILED, with the same words for an unknown key and a wrong signature
 */
export async function authenticate(
  context: Pick<Context, 'keys' | 'nonces'>,
  headers: AuthHeaders,
  signed: { method: string; target: string; body: Uint8Array; now: number },
): Promise<KeyRow> {
  const key = context.keys.find(headers.key);
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
  if (!(await context.nonces.remember(key.id, headers.nonce, signed.now))) {
    throw new Refusal('AUTHENTICATION_FAILED', 'the nonce was used before; every attempt needs a new one');
  }
  return key;
}

/**
 * Checks what the key and the plan permit.
 * @throws Refusal SOURCE_IP_NOT_ALLOWED, API_ACCESS_NOT_INCLUDED_IN_PLAN, CAPABILITY_NOT_PERMITTED
 */
export function checkAccess(
  context: Pick<Context, 'config'>,
  key: KeyRow,
  caller: { address: string | undefined; operation: Operation; now: number },
): void {
  if (!isAddressAllowed(key.allowed_addresses, caller.address)) {
    throw new Refusal('SOURCE_IP_NOT_ALLOWED', `the key may not be used from ${caller.address ?? 'here'}`);
  }
  const { planEndsAt } = context.config;
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
