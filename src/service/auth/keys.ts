/** API keys: their permissions, allowed addresses and monthly credits. */
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import { toCredits, toThousandths } from '../../protocol/metering.ts';
import type { RandomBytes } from '../random.ts';
import { SECRET_BYTES, type Statements } from '../store/store.ts';
import { compileAllowList } from './caller-address.ts';

/** A key with its secrets, as a client uses it. */
export interface IssuedKey {
  readonly key: string;
  readonly secret: string;
  readonly webhookSecret: string;
}

/** The permissions of a key. An omitted rule permits everything. */
export interface KeyRules {
  readonly permissions?: readonly JobKind[] | undefined;
  /** Credits per calendar month (Asia/Shanghai); null: no separate limit. */
  readonly monthlyLimitCredits?: number | null | undefined;
  /** Addresses and networks such as `192.0.2.0/24`; empty: from anywhere. */
  readonly allowedAddresses?: readonly string[] | undefined;
  readonly revoked?: boolean | undefined;
}

/** The data of a key that requests are checked against. Lists are stored as comma-separated text. */
export interface KeyRow {
  readonly id: string;
  readonly secret: string;
  readonly permissions: string;
  /** Thousandths of a credit, or null. */
  readonly monthly_limit: number | null;
  readonly allowed_addresses: string;
}

/** A key in a list, without its secrets. */
export interface KeyDescription {
  readonly key: string;
  readonly permissions: readonly string[];
  readonly monthlyLimitCredits: number | null;
  readonly allowedAddresses: readonly string[];
  /** ms since 1970. */
  readonly createdAt: number;
  /** ms since 1970; null if the key is not revoked. */
  readonly revokedAt: number | null;
}

/** 96 bits. An identifier, not a secret: it only must be unique. */
const KEY_ID_BYTES = 12;

/** Returns all keys that are not revoked, oldest first. */
export function listKeys(store: Statements): Promise<IssuedKey[]> {
  return store.all<IssuedKey>(
    `SELECT id AS key, secret, webhook_secret AS "webhookSecret"
     FROM keys WHERE revoked_at IS NULL ORDER BY created_at, id`,
  );
}

interface DescribedRow extends Omit<KeyRow, 'secret'> {
  readonly created_at: number;
  readonly revoked_at: number | null;
}

/** Returns all keys, including revoked ones, oldest first. */
export async function describeKeys(store: Statements): Promise<KeyDescription[]> {
  const rows = await store.all<DescribedRow>(
    `SELECT id, permissions, monthly_limit, allowed_addresses, created_at, revoked_at
     FROM keys ORDER BY created_at, id`,
  );
  return rows.map((row) => ({
    key: row.id,
    permissions: permissionsOf(row),
    monthlyLimitCredits: row.monthly_limit === null ? null : toCredits(row.monthly_limit),
    allowedAddresses: row.allowed_addresses === '' ? [] : row.allowed_addresses.split(','),
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  }));
}

/** Revokes a key. Does nothing if it is unknown or already revoked. Its records stay. */
export async function revokeKey(store: Statements, id: string, now: number): Promise<void> {
  await store.run('UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', now, id);
}

/** Deletes a key that was never used. */
export async function dropKey(store: Statements, id: string): Promise<void> {
  await store.run('DELETE FROM keys WHERE id = ?', id);
}

/**
 * Creates a key. Its secrets are stored in plain text, because a signature cannot be checked against a hash of them.
 */
export async function issueKey(
  store: Statements,
  rules: KeyRules,
  now: number,
  randomBytes: RandomBytes,
): Promise<IssuedKey> {
  const random = (bytes: number) => randomBytes(bytes).toString('base64url');
  const issued = {
    key: `vk_${random(KEY_ID_BYTES)}`,
    secret: random(SECRET_BYTES),
    webhookSecret: random(SECRET_BYTES),
  };
  const columns = columnsOf(rules, now);
  await store.run(
    `INSERT INTO keys (id, secret, webhook_secret, permissions, monthly_limit, allowed_addresses, created_at,
       revoked_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    issued.key,
    issued.secret,
    issued.webhookSecret,
    columns.permissions,
    columns.monthlyLimit,
    columns.allowedAddresses,
    now,
    columns.revokedAt,
  );
  return issued;
}

/**
 * Replaces secrets of a key. Returns undefined if the id is unknown.
 * @param only the secret to replace; null: both
 */
export function rotateKey(
  store: Statements,
  id: string,
  only: 'secret' | 'webhook_secret' | null,
  randomBytes: RandomBytes,
): Promise<IssuedKey | undefined> {
  const fresh = (name: 'secret' | 'webhook_secret') =>
    only === null || only === name ? randomBytes(SECRET_BYTES).toString('base64url') : null;
  return store.get<IssuedKey>(
    `UPDATE keys SET secret = coalesce(?, secret), webhook_secret = coalesce(?, webhook_secret) WHERE id = ?
     RETURNING id AS key, secret, webhook_secret AS "webhookSecret"`,
    fresh('secret'),
    fresh('webhook_secret'),
    id,
  );
}

/** Replaces all rules of a key. Throws if the id is unknown. */
export async function changeKey(store: Statements, id: string, rules: KeyRules, now: number): Promise<void> {
  const columns = columnsOf(rules, now);
  const changed = await store.run(
    'UPDATE keys SET permissions = ?, monthly_limit = ?, allowed_addresses = ?, revoked_at = ? WHERE id = ?',
    columns.permissions,
    columns.monthlyLimit,
    columns.allowedAddresses,
    columns.revokedAt,
    id,
  );
  if (changed === 0) throw new Error(`there is no key "${id}"`);
}

function columnsOf(rules: KeyRules, now: number) {
  const limit = rules.monthlyLimitCredits ?? null;
  const allowedAddresses = (rules.allowedAddresses ?? []).join(',');
  // Refuses an invalid address immediately, not at the first request.
  compileAllowList(allowedAddresses);
  return {
    permissions: (rules.permissions ?? JOB_KIND_NAMES).join(','),
    monthlyLimit: limit === null ? null : toThousandths(limit),
    allowedAddresses,
    revokedAt: rules.revoked === true ? now : null,
  };
}

/** Returns the kinds that a key may use. */
export function permissionsOf(key: Pick<KeyRow, 'permissions'>): readonly string[] {
  return key.permissions.split(',');
}

/**
 * Returns the key with that id; undefined if it is unknown or revoked. Read for each request, so that a key that another
 * process revokes is refused immediately.
 */
export function findValidKey(store: Statements, id: string): Promise<KeyRow | undefined> {
  return store.get<KeyRow>(
    `SELECT id, secret, permissions, monthly_limit, allowed_addresses
     FROM keys WHERE id = ? AND revoked_at IS NULL`,
    id,
  );
}
