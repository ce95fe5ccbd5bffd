/** Rows of jobs in the store, as they are shown. */
import type { JobErrorCode } from '../../protocol/job-failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { MeteringUnit } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Provenance } from '../../protocol/provenance.ts';
import type { BillingResource } from '../../protocol/resources.ts';
import type { JobStatus } from '../../protocol/states.ts';
import type { Statements } from '../store/store.ts';
import type { StoredResult } from './results.ts';

export interface SummaryRow {
  readonly id: string;
  readonly kind: JobKind;
  readonly status: JobStatus;
  readonly progress: number;
  readonly client_reference: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface JobRow extends SummaryRow {
  readonly stage: string | null;
  /** JSON of the request, as it is shown. */
  readonly input: string;
  readonly error_code: JobErrorCode | null;
  readonly error_message: string | null;
  /** JSON of `StoredResult`. */
  readonly result: string | null;
  /** Where the files of the result are; null after they were removed. */
  readonly folder: string | null;
  readonly links_expire_at: number | null;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly billing_status: BillingResource['status'];
  readonly unit: MeteringUnit;
  readonly quantity: number;
  readonly reserved: number;
  readonly charged: number;
}

export const SUMMARY_COLUMNS = 'id, kind, status, progress, client_reference, created_at, updated_at';

const FIND = `
  SELECT jobs.id, kind, jobs.status, progress, client_reference, created_at, updated_at, stage, input, error_code,
    error_message, result, folder, links_expire_at, started_at, finished_at,
    bills.status AS billing_status, unit, quantity, reserved, charged
  FROM jobs JOIN bills ON bills.job_id = jobs.id
  WHERE jobs.id = ? AND jobs.key_id = ? AND kind = ? AND created_at > ?`;

/** Identifies a job in a call. `now` is in milliseconds since 1970. */
export interface JobLookup {
  readonly id: string;
  readonly keyId: string;
  readonly kind: JobKind;
  readonly now: number;
}

/** Returns the job of that id and kind if it belongs to the key and is within its retention. */
export function findOwnJob(store: Statements, job: JobLookup): Promise<JobRow | undefined> {
  return store.get<JobRow>(FIND, job.id, job.keyId, job.kind, job.now - LIMITS.retentionMs);
}

/** The provenance of a job of any key: null if its result has none, or there is no result; undefined without such a job. */
export async function readProvenance(store: Statements, id: string): Promise<Provenance | null | undefined> {
  const row = await store.get<Pick<JobRow, 'result'>>('SELECT result FROM jobs WHERE id = ?', id);
  if (row === undefined) return undefined;
  const stored: StoredResult | null = row.result === null ? null : JSON.parse(row.result);
  return stored?.provenance ?? null;
}
