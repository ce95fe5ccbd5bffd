/** The handler of each action. Together with the table of operations they form all 26 operations. */
import type { Action } from '../protocol/operations.ts';
import type { Handler } from './context.ts';
import { getCredits, listCreditTransactions } from './credits/read.ts';
import { createJob } from './jobs/create.ts';
import { cancelJob } from './jobs/finish.ts';
import { getJob, listJobs } from './jobs/read.ts';
import { getUpload, listUploads } from './uploads/read.ts';
import { completeUpload, createUpload } from './uploads/reservation.ts';

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
