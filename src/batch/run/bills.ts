/** What jobs cost, as the journal keeps it: a later run counts it towards --max-credits, a report sums it up. */
import type { LogRecord } from '../../journal/record-line.ts';
import type { Bill } from './budget.ts';

/** The record of a bill. @param key of the intent */
export function writeBill(key: string, bill: Bill): LogRecord {
  const { status, quantity, reserved_credits, charged_credits } = bill;
  return { type: 'billed', key, status, quantity, reserved_credits, charged_credits };
}

/** The newest bill of each intent, by its key; records of other types are ignored. */
export function readBills(records: readonly LogRecord[]): ReadonlyMap<string, Bill> {
  const bills = new Map<string, Bill>();
  for (const record of records) {
    if (record.type !== 'billed' || typeof record.key !== 'string') continue;
    bills.set(record.key, {
      status: typeof record.status === 'string' ? record.status : null,
      quantity: asNumber(record.quantity),
      reserved_credits: asNumber(record.reserved_credits),
      charged_credits: asNumber(record.charged_credits),
    });
  }
  return bills;
}

function asNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
