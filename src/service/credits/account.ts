/** The credits of the account and of a key, in thousandths of a credit. Source: specification, "Credit balance". */
import type { IdSubject } from '../../protocol/id-prefixes.ts';
import { toThousandths } from '../../protocol/metering.ts';
import type { Statements, Transaction } from '../store/store.ts';

export const QUOTA_TIME_ZONE = 'Asia/Shanghai';
/** Asia/Shanghai is eight hours ahead of UTC and has had no summer time since 1991. */
const OFFSET_MS = 8 * 60 * 60_000;

/** Returns the calendar month for quotas: its name, `2026-11`, and the time at which the next one begins. */
export function monthOf(now: number): { name: string; endsAt: number } {
  const local = new Date(now + OFFSET_MS);
  const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()];
  return {
    name: `${String(year).padStart(4, '0')}-${String(month + 1).padStart(2, '0')}`,
    endsAt: Date.UTC(year, month + 1) - OFFSET_MS,
  };
}

export interface Account {
  /** Sum of the ledger, including credits that expired unspent. */
  readonly balance: number;
  /** Sum of the open reservations of all keys. */
  readonly reserved: number;
  /** The credits that a new job may reserve: neither expired nor reserved. */
  readonly available: number;
}

/** Reads the account at a given time. */
export async function readAccount(store: Statements, now: number): Promise<Account> {
  const [grants, open] = await Promise.all([
    store.get<{ balance: number; usable: number }>(
      `SELECT coalesce(sum(remaining), 0) AS balance,
         coalesce(sum(remaining) FILTER (WHERE expires_at IS NULL OR expires_at > ?), 0) AS usable
       FROM grants`,
      now,
    ),
    store.get<{ reserved: number }>(
      `SELECT coalesce(sum(reserved), 0) AS reserved FROM bills WHERE status = 'reserved'`,
    ),
  ]);
  const { balance, usable } = grants ?? { balance: 0, usable: 0 };
  const reserved = open?.reserved ?? 0;
  // Credits may expire while a job holds them. The job can still use them, but no new job can.
  return { balance, reserved, available: Math.max(0, usable - reserved) };
}

/**
 * Returns the use of a key in a month: charges of the jobs created in it, and reservations that still count against the
 * quota.
 */
export async function readMonthlyUse(store: Statements, keyId: string, month: string): Promise<number> {
  const row = await store.get<{ used: number }>(
    'SELECT used FROM monthly_use WHERE key_id = ? AND month = ?',
    keyId,
    month,
  );
  return row?.used ?? 0;
}

/**
 * Adds credits to the account.
 * @param grant credits, above 0; `expiresAt` in ms since 1970, null: never
 */
export async function grantCredits(
  tx: Transaction,
  grant: { credits: number; expiresAt: number | null },
  now: number,
  makeId: (subject: IdSubject) => string,
): Promise<void> {
  const amount = toThousandths(grant.credits);
  if (!Number.isSafeInteger(amount) || amount <= 0) throw new RangeError('a grant must be above 0 credits');
  const id = makeId('credit_transaction');
  await tx.run('INSERT INTO ledger (id, amount, posted_at) VALUES (?, ?, ?)', id, amount, now);
  await tx.run(
    'INSERT INTO grants (id, remaining, expires_at) VALUES (?, ?, ?)',
    id,
    amount,
    grant.expiresAt,
  );
}
