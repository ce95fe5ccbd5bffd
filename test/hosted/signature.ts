/** The check of a signature, written from the specification alone. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Source: specification, "Authentication". */
const SKEW_SECONDS = 300;
/** How long a nonce may not come again. Source: the same. */
const NONCE_MS = 10 * 60_000;

export interface Account {
  readonly prefix: string;
  readonly key: string;
  readonly secret: string;
}

/** When each nonce of each key was used. */
export type Nonces = Map<string, number>;

/**
 * Why a request is not genuine, or the account that it is from. The target is taken as it came.
 * @param now milliseconds since 1970
 */
export function judgeSignature(
  accounts: readonly Account[],
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  nonces: Nonces,
  now: number,
): Account | string {
  const given = (account: Account) => (name: string) => headers[`${account.prefix}-${name}`.toLowerCase()];
  const account = accounts.find((each) => given(each)('Key') === each.key);
  if (account === undefined) return 'unknown key';
  const header = given(account);
  const [timestamp, nonce, signature] = [header('Timestamp'), header('Nonce'), header('Signature')];
  if (typeof timestamp !== 'string' || Math.abs(Math.floor(now / 1000) - Number(timestamp)) > SKEW_SECONDS) {
    return 'stale timestamp';
  }
  const name = `${account.key} ${nonce}`;
  if (typeof nonce !== 'string' || now - (nonces.get(name) ?? Number.NEGATIVE_INFINITY) < NONCE_MS) {
    return 'nonce missing or used';
  }
  const digest = createHash('sha256').update(body).digest('hex');
  const canonical = [method, url, timestamp, nonce, digest].join('\n');
  const expected = Buffer.from(createHmac('sha256', account.secret).update(canonical).digest('hex'));
  const offered = Buffer.from(typeof signature === 'string' ? signature : '');
  if (offered.length !== expected.length || !timingSafeEqual(offered, expected)) return 'wrong signature';
  nonces.set(name, now);
  return account;
}

/** A webhook's signature with its parts joined by dots. */
export function dottedSignature(secret: string, timestamp: string, id: string, body: Buffer): string {
  const digest = createHash('sha256').update(body).digest('hex');
  return createHmac('sha256', secret).update([timestamp, id, digest].join('.')).digest('hex');
}
