/**
 * The names of the fields of each resource, as its own reader gives them. Functions: few runs ask, and all would wait for
 * readers that they do not need.
 */
import { readBalance, readTransaction } from './credits.ts';
import { readJob, readJobSummary } from './job.ts';
import { readUpload } from './upload.ts';

/** What every reader needs; it fills in the rest. */
const LEAST = { id: '_', amount: 0, balance_credits: 0, reserved_credits: 0, available_credits: 0 };

export function jobSummaryFields(): readonly string[] {
  return Object.keys(readJobSummary('dubbing', { ...LEAST, status: 'queued' }, null));
}

export function jobFields(): readonly string[] {
  return Object.keys(readJob('dubbing', { ...LEAST, status: 'queued' }, null));
}

export function uploadFields(): readonly string[] {
  return Object.keys(readUpload({ ...LEAST, status: 'ready' }, null));
}

export function creditBalanceFields(): readonly string[] {
  return Object.keys(readBalance(LEAST, null));
}

export function creditTransactionFields(): readonly string[] {
  return Object.keys(readTransaction(LEAST, null));
}
