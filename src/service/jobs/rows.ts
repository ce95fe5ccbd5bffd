/** Jobs in the store, as they are shown. */
import type { JobErrorCode } from '../../protocol/job-failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { MeteringUnit } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Billing } from '../../protocol/resources.ts';
import type { JobStatus } from '../../protocol/states.ts';
import type { Store } from '../store/store.ts';

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
  /** JSON of what was asked, as it is shown. */
  readonly input: string;
  readonly error_code: JobErrorCode | null;
  readonly error_message: string | null;
  /** JSON of `StoredResult`. */
  readonly result: string | null;
  readonly links_expire_at: number | null;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly billing_status: Billing['status'];
  readonly unit: MeteringUnit;
  readonly quantity: number;
  readonly reserved: number;
  readonly charged: number;
}

export const SUMMARY_COLUMNS = 'id, kind, status, progress, client_reference, created_at, updated_at';

const FIND = `
  SELECT jobs.id, kind, jobs.status, progress, client_reference, created_at, updated_at, stage, input, error_code,
    error_message, result, links_expire_at, started_at, finished_at,
    bills.status AS billing_status, unit, quantity, reserved, charged
  FROM jobs JOIN bills ON bills.job_id = jobs.id
  WHERE jobs.id = ? AND jobs.key_id = ? AND kind = ? AND created_at > ?`;

/** A job as its caller names it; `now` in milliseconds since 1970. */
export interface OwnJob {
  readonly id: string;
  readonly keyId: string;
  readonly kind: JobKind;
  readonly now: number;
}

/** The job of that id and kind, if the key made it and it is not past its retention. */
export function findOwnJob(context: { readonly store: Store }, job: OwnJob): JobRow | undefined {
  return context.store.get<JobRow>(FIND, job.id, job.keyId, job.kind, job.now - LIMITS.retentionMs);
}
