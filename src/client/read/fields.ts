/** The names of the fields of each resource, as its own reader gives them. */
import { readBalance, readTransaction } from './credits.ts';
import { readJob, readJobSummary } from './job.ts';
import { readUpload } from './upload.ts';

/** What every reader needs; it fills in the rest. */
const LEAST = { id: '_', amount: 0, balance_credits: 0, reserved_credits: 0, available_credits: 0 };

export const JOB_SUMMARY_FIELDS: readonly string[] = Object.keys(
  readJobSummary('dubbing', { ...LEAST, status: 'queued' }, null),
);
export const JOB_FIELDS: readonly string[] = Object.keys(
  readJob('dubbing', { ...LEAST, status: 'queued' }, null),
);
export const UPLOAD_FIELDS: readonly string[] = Object.keys(readUpload({ ...LEAST, status: 'ready' }, null));
export const CREDIT_BALANCE_FIELDS: readonly string[] = Object.keys(readBalance(LEAST, null));
export const CREDIT_TRANSACTION_FIELDS: readonly string[] = Object.keys(readTransaction(LEAST, null));
