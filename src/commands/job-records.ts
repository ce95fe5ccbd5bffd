/** How jobs are shown: the columns of lists and of single jobs. */
import type { Job, JobSummary } from '../client/index.ts';
import { jobFields, jobSummaryFields } from '../client/read/job.ts';
import { formatRelative } from '../context/format.ts';
import type { RecordForm } from '../context/records.ts';

export { jobFields };

/** A job of a list, with what this machine has recorded of it. */
export interface ListedJob extends JobSummary {
  /** What the job was made from, as its command named it; null for jobs that were made elsewhere. */
  readonly input: string | null;
}

export function listedJobFields(): readonly string[] {
  return [...jobSummaryFields(), 'input'];
}

/** Jobs as lists return them. */
export const LISTED_JOBS: RecordForm<ListedJob> = {
  plural: 'jobs',
  idOf: (job) => job.id,
  columns: [
    { head: 'JOB', field: 'id' },
    { head: { title: 'INPUT', shrinks: 1 }, field: 'input' },
    { head: { title: 'KIND', shrinks: 2 }, field: 'object' },
    { head: { title: 'STATUS', status: true }, field: 'status' },
    { head: 'DONE', field: 'progress', text: (job) => `${job.progress} %` },
    { head: 'CREATED', field: 'created_at' },
  ],
};

/** Single jobs. */
export const JOBS: RecordForm<Job> = {
  plural: 'jobs',
  idOf: (job) => job.id,
  columns: [
    { head: 'JOB', field: 'id' },
    { head: { title: 'KIND', shrinks: 2 }, field: 'object' },
    { head: { title: 'STATUS', status: true, shrinks: 1 }, field: 'status', text: statusOf },
    { head: 'DONE', field: 'progress', text: (job) => `${job.progress} %` },
    { head: 'EXPIRES', field: 'expires_at', text: expiryOf },
    { head: { title: 'ERROR', shrinks: 3 }, field: 'error', text: (job) => job.error?.message ?? '-' },
  ],
};

function statusOf(job: Job): string {
  return job.status === 'processing' && job.stage !== null ? `${job.status} (${job.stage})` : job.status;
}

/** How long the results can still be fetched. */
function expiryOf(job: Job, nowMs: number): string {
  if (job.expires_at === null) return '-';
  return Date.parse(job.expires_at) <= nowMs ? 'expired' : formatRelative(job.expires_at, nowMs);
}
