/**
 * The credits of a job: reserved when it is created, settled or released when it ends. Each function takes the
 * transaction that changes the job. Source: contract, "Credits".
 */
import type { IdSubject } from '../../protocol/id-prefixes.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { MeteringUnit } from '../../protocol/kinds.ts';
import { Refusal } from '../http/refusal.ts';
import type { Transaction } from '../store/store.ts';
import { monthOf, readAccount, readMonthlyUse, toCredits } from './account.ts';

interface Estimate {
  readonly jobId: string;
  readonly key: { readonly id: string; readonly monthly_limit: number | null };
  readonly unit: MeteringUnit;
  readonly quantity: number;
  /** Thousandths of a credit for one unit. */
  readonly price: number;
}

/**
 * Reserves the estimated credits of a new job.
 * @throws Refusal INSUFFICIENT_CREDITS, CREDIT_QUOTA_EXCEEDED
 */
export async function reserveCredits(tx: Transaction, estimate: Estimate, now: number): Promise<void> {
  const { jobId, key, unit, quantity, price } = estimate;
  const amount = quantity * price;
  const { available } = await readAccount(tx, now);
  if (amount > available) {
    throw new Refusal(
      'INSUFFICIENT_CREDITS',
      `the job needs ${toCredits(amount)} credits, ${toCredits(available)} are available`,
    );
  }
  const month = monthOf(now);
  if (key.monthly_limit !== null) {
    const left = key.monthly_limit - (await readMonthlyUse(tx, key.id, month.name));
    if (amount > left) {
      throw new Refusal(
        'CREDIT_QUOTA_EXCEEDED',
        `the job needs ${toCredits(amount)} credits, the key has ${toCredits(Math.max(0, left))} left in ${month.name}`,
      );
    }
  }
  await tx.run(
    `INSERT INTO bills (job_id, key_id, month, status, unit, quantity, price, reserved)
     VALUES (?, ?, ?, 'reserved', ?, ?, ?, ?)`,
    jobId,
    key.id,
    month.name,
    unit,
    quantity,
    price,
    amount,
  );
  await tx.run(
    `INSERT INTO monthly_use (key_id, month, used) VALUES (?, ?, ?)
     ON CONFLICT (key_id, month) DO UPDATE SET used = monthly_use.used + excluded.used`,
    key.id,
    month.name,
    amount,
  );
}

interface MonthOfKey {
  readonly key_id: string;
  readonly month: string;
}

interface OpenBill extends MonthOfKey {
  readonly unit: string;
  readonly price: number;
  readonly reserved: number;
}

/** Charges the cost of a job, at most its reservation, and adds it to the ledger. Does nothing if called again. */
export async function settleCredits(
  tx: Transaction,
  job: { id: string; kind: JobKind; clientReference: string | null; quantity: number },
  now: number,
  makeId: (subject: IdSubject) => string,
): Promise<void> {
  const bill = await tx.get<OpenBill>(
    `SELECT key_id, month, unit, price, reserved FROM bills WHERE job_id = ? AND status = 'reserved'`,
    job.id,
  );
  if (bill === undefined) return;
  const charged = Math.min(job.quantity * bill.price, bill.reserved);
  await tx.run(
    `UPDATE bills SET status = 'settled', quantity = ?, charged = ? WHERE job_id = ?`,
    job.quantity,
    charged,
    job.id,
  );
  await giveBack(tx, bill, bill.reserved - charged);
  await spend(tx, charged, now);
  await tx.run(
    `INSERT INTO ledger (id, amount, posted_at, key_id, job_id, kind, client_reference, unit, quantity)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    makeId('credit_transaction'),
    0 - charged,
    now,
    bill.key_id,
    job.id,
    job.kind,
    job.clientReference,
    bill.unit,
    job.quantity,
  );
}

/** Spends the grants that expire first. Expired grants come last, for jobs that reserved them in time. */
async function spend(tx: Transaction, amount: number, now: number): Promise<void> {
  const grants = await tx.all<{ id: string; remaining: number }>(
    `SELECT id, remaining FROM grants WHERE remaining > 0
     ORDER BY expires_at IS NOT NULL AND expires_at <= ?, expires_at IS NULL, expires_at, id`,
    now,
  );
  let left = amount;
  for (const grant of grants) {
    if (left === 0) return;
    const taken = Math.min(left, grant.remaining);
    await tx.run('UPDATE grants SET remaining = remaining - ? WHERE id = ?', taken, grant.id);
    left -= taken;
  }
  if (left > 0) throw new Error(`the grants lack ${left} thousandths of what was reserved`);
}

/** Releases the reservation of a job, without a ledger line. Does nothing if called again. */
export async function releaseCredits(tx: Transaction, jobId: string): Promise<void> {
  const bill = await tx.get<MonthOfKey & Pick<OpenBill, 'reserved'>>(
    `UPDATE bills SET status = 'released' WHERE job_id = ? AND status = 'reserved' RETURNING key_id, month, reserved`,
    jobId,
  );
  if (bill !== undefined) await giveBack(tx, bill, bill.reserved);
}

/** Takes credits that a bill does not use off the sum of its month. */
async function giveBack(tx: Transaction, { key_id, month }: MonthOfKey, amount: number): Promise<void> {
  const sql = 'UPDATE monthly_use SET used = used - ? WHERE key_id = ? AND month = ?';
  await tx.run(sql, amount, key_id, month);
}
