/** What the account and a key have, in thousandths of a credit. Source: specification, "Credit balance". */
import type { Store } from '../store/store.ts';

export interface Account {
  /** Sum of the ledger, with credits that have expired unspent. */
  readonly balance: number;
  /** Sum of the open reservations of all keys. */
  readonly reserved: number;
  /** What a new job may reserve: no expired credits, nothing that is reserved. */
  readonly available: number;
}

/** Reads the account as of an instant. */
export function readAccount(store: Store, now: number): Account {
  const { balance, usable } = store.get<{ balance: number; usable: number }>(
    `SELECT coalesce(sum(remaining), 0) AS balance,
       coalesce(sum(remaining) FILTER (WHERE expires_at IS NULL OR expires_at > ?), 0) AS usable
     FROM grants`,
    now,
  ) ?? { balance: 0, usable: 0 };
  const { reserved } = store.get<{ reserved: number }>(
    `SELECT coalesce(sum(reserved), 0) AS reserved FROM bills WHERE status = 'reserved'`,
  ) ?? { reserved: 0 };
  // Credits may expire while a job holds them; the job is still paid from them, but nothing new is.
  return { balance, reserved, available: Math.max(0, usable - reserved) };
}

/** What a key used in a month: charges of the jobs created in it, and reservations that still hold quota. */
export function readMonthlyUse(store: Store, keyId: string, month: string): number {
  const row = store.get<{ used: number }>(
    `SELECT coalesce(sum(CASE status WHEN 'settled' THEN charged WHEN 'released' THEN 0 ELSE reserved END), 0) AS used
     FROM bills WHERE key_id = ? AND month = ?`,
    keyId,
    month,
  );
  return row?.used ?? 0;
}
