/**
 * The credits of a job: reserved when it is created, settled or released when it ends. Each function takes the
 * transaction that changes the job. Source: contract, "Credits".
 */
import type { IdSubject } from '../../protocol/id-prefixes.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { MeteringUnit } from '../../protocol/kinds.ts';
import { toCredits } from '../../protocol/metering.ts';
import { Refusal } from '../http/refusal.ts';
import type { Transaction } from '../store/store.ts';
import { monthOf, readAccount, readMonthlyUse } from './account.ts';

/** Credits that a key can still reserve. */
export interface Funds {
  readonly key: { readonly id: string; readonly monthly_limit: number | null };
  readonly available: number;
  readonly month: string;
  /** Use of the key in this month. */
  readonly used: number;
}

/**
 * Reads what a key may reserve.
 * @param month in which the job was created; its use counts. Default: the current one
 */
export async function readFunds(
  tx: Transaction,
  key: Funds['key'],
  now: number,
  month: string = monthOf(now).name,
): Promise<Funds> {
  const [{ available }, used] = await Promise.all([
    readAccount(tx, now),
    key.monthly_limit === null ? 0 : readMonthlyUse(tx, key.id, month),
  ]);
  return { key, available, month, used };
}

interface Estimate {
  readonly jobId: string;
  readonly unit: MeteringUnit;
  readonly quantity: number;
  /** Thousandths of a credit for one unit. */
  readonly price: number;
}

/** A reservation that the key can afford. */
export interface NewBill extends Estimate {
  readonly keyId: string;
  readonly month: string;
  readonly amount: number;
}

/**
 * Returns the reservation for the estimated credits of a new job.
 * @throws Refusal INSUFFICIENT_CREDITS, CREDIT_QUOTA_EXCEEDED
 */
export function billFor(funds: Funds, estimate: Estimate): NewBill {
  const amount = estimate.quantity * estimate.price;
  refuseUnaffordable(funds, amount, 0);
  return { ...estimate, keyId: funds.key.id, month: funds.month, amount };
}

/** @param reserved what the job has reserved already, in thousandths like `amount` */
function refuseUnaffordable({ key, available, month, used }: Funds, amount: number, reserved: number): void {
  const needed = amount - reserved;
  if (needed > available) {
    throw new Refusal(
      'INSUFFICIENT_CREDITS',
      `the job needs ${toCredits(amount)} credits, ${toCredits(available + reserved)} are available`,
    );
  }
  if (key.monthly_limit !== null && needed > key.monthly_limit - used) {
    const left = Math.max(0, key.monthly_limit - used) + reserved;
    throw new Refusal(
      'CREDIT_QUOTA_EXCEEDED',
      `the job needs ${toCredits(amount)} credits, the key has ${toCredits(left)} left in ${month}`,
    );
  }
}

/** Reserves the credits of a new job. The funds of its bill were read in this transaction. */
export async function reserveCredits(tx: Transaction, bill: NewBill): Promise<void> {
  const { jobId, keyId, month, unit, quantity, price, amount } = bill;
  await Promise.all([
    tx.run(
      `INSERT INTO bills (job_id, key_id, month, status, unit, quantity, price, reserved)
       VALUES (?, ?, ?, 'reserved', ?, ?, ?, ?)`,
      jobId,
      keyId,
      month,
      unit,
      quantity,
      price,
      amount,
    ),
    countUse(tx, { key_id: keyId, month }, amount),
  ]);
}

/** Adds credits to the sum of a month. */
function countUse(tx: Transaction, { key_id, month }: MonthOfKey, amount: number): Promise<number> {
  return tx.run(
    `INSERT INTO monthly_use (key_id, month, used) VALUES (?, ?, ?)
     ON CONFLICT (key_id, month) DO UPDATE SET used = monthly_use.used + excluded.used`,
    key_id,
    month,
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

/**
 * Raises the reservation of a job whose input is larger than estimated. Does nothing if it suffices, or is no longer open.
 * @throws Refusal INSUFFICIENT_CREDITS, CREDIT_QUOTA_EXCEEDED
 */
export async function raiseReservation(
  tx: Transaction,
  { jobId, quantity }: Pick<Estimate, 'jobId' | 'quantity'>,
  now: number,
): Promise<void> {
  const bill = await tx.get<OpenBill & Pick<Funds['key'], 'monthly_limit'>>(
    `SELECT bills.key_id, month, unit, price, reserved, monthly_limit FROM bills JOIN keys ON keys.id = bills.key_id
     WHERE job_id = ? AND status = 'reserved'`,
    jobId,
  );
  if (bill === undefined) return;
  const amount = quantity * bill.price;
  if (amount <= bill.reserved) return;
  const funds = await readFunds(tx, { id: bill.key_id, ...bill }, now, bill.month);
  refuseUnaffordable(funds, amount, bill.reserved);
  await Promise.all([
    tx.run('UPDATE bills SET quantity = ?, reserved = ? WHERE job_id = ?', quantity, amount, jobId),
    countUse(tx, bill, amount - bill.reserved),
  ]);
}

/** The open reservation of a job, and the grants to spend. */
export interface Reserved {
  /** Undefined if it was settled or released. */
  readonly bill: OpenBill | undefined;
  readonly grants: readonly Grant[];
}

/** Reads what `settleCredits` needs. */
export async function readReserved(tx: Transaction, jobId: string, now: number): Promise<Reserved> {
  const [bill, grants] = await Promise.all([
    tx.get<OpenBill>(
      `SELECT key_id, month, unit, price, reserved FROM bills WHERE job_id = ? AND status = 'reserved'`,
      jobId,
    ),
    readGrants(tx, now),
  ]);
  return { bill, grants };
}

/**
 * Charges the cost of a job, at most its reservation, and adds it to the ledger. Does nothing if called again.
 * @param reserved read in this transaction
 */
export async function settleCredits(
  tx: Transaction,
  { bill, grants }: Reserved,
  job: { id: string; kind: JobKind; clientReference: string | null; quantity: number },
  now: number,
  makeId: (subject: IdSubject) => string,
): Promise<void> {
  if (bill === undefined) return;
  const charged = Math.min(job.quantity * bill.price, bill.reserved);
  await Promise.all([
    tx.run(
      `UPDATE bills SET status = 'settled', quantity = ?, charged = ? WHERE job_id = ?`,
      job.quantity,
      charged,
      job.id,
    ),
    giveBack(tx, bill, bill.reserved - charged),
    spend(tx, grants, charged),
    tx.run(
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
    ),
  ]);
}

interface Grant {
  readonly id: string;
  readonly remaining: number;
}

/** Returns the grants to spend, in order: those that expire first, then expired ones, for jobs that reserved them in time. */
function readGrants(tx: Transaction, now: number): Promise<Grant[]> {
  return tx.all(
    `SELECT id, remaining FROM grants WHERE remaining > 0
     ORDER BY expires_at IS NOT NULL AND expires_at <= ?, expires_at IS NULL, expires_at, id`,
    now,
  );
}

async function spend(tx: Transaction, grants: readonly Grant[], amount: number): Promise<void> {
  const written: Promise<number>[] = [];
  let left = amount;
  for (const { id, remaining } of grants) {
    if (left === 0) break;
    const taken = Math.min(left, remaining);
    written.push(tx.run('UPDATE grants SET remaining = remaining - ? WHERE id = ?', taken, id));
    left -= taken;
  }
  await Promise.all(written);
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
