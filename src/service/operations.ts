/** The handler of each action; with the table of operations they make all 26 of them. */
import type { Action } from '../protocol/operations.ts';
import type { Handler } from './call.ts';
import { getCredits } from './credits/balance.ts';
import { listCreditTransactions } from './credits/list.ts';
import { cancelJob } from './jobs/cancel.ts';
import { createJob } from './jobs/create.ts';
import { listJobs } from './jobs/list.ts';
import { getJob } from './jobs/read.ts';
import { completeUpload } from './uploads/complete.ts';
import { createUpload } from './uploads/create.ts';
import { listUploads } from './uploads/list.ts';
import { getUpload } from './uploads/read.ts';

export const HANDLERS: Readonly<Record<Action, Handler>> = {
  getCredits,
  listCreditTransactions,
  createUpload,
  listUploads,
  getUpload,
  completeUpload,
  createJob,
  listJobs,
  getJob,
  cancelJob,
};
