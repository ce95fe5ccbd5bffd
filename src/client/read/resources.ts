/** Resources as a client can rely on them: weaker than what the embedded service emits, since a hosted one may say less. */
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Kinds } from '../../protocol/kinds.ts';
import type { JobSummary, UploadTarget } from '../../protocol/resources.ts';
import type { UploadPurpose, UploadStatus } from '../../protocol/states.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

export type { JobSummary, ListPage, UploadTarget } from '../../protocol/resources.ts';

/** A file of a result; null where the service states nothing. */
export interface Asset {
  readonly url: string;
  readonly expires_at: string | null;
  readonly content_type: string | null;
  readonly size_bytes: number | null;
  /** Lower-case hex. */
  readonly sha256: string | null;
}

/** Reservation and settlement; null where the service states nothing. Credits may have decimals. */
export interface Billing {
  readonly status: string | null;
  readonly unit: string | null;
  readonly quantity: number | null;
  readonly reserved_credits: number | null;
  readonly charged_credits: number | null;
}

export interface JobError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

type ResultField<Part> = Part extends { type: 'asset' }
  ? Partial<Asset>
  : Part extends { type: 'lines' }
    ? readonly SubtitleLine[]
    : Part extends { type: 'language' }
      ? string
      : number;

/** As sent: the fields that a kind promises, any of which a service may omit, and others. */
export type JobResult<K extends JobKind = JobKind> = Readonly<Record<string, unknown>> & {
  readonly [Name in keyof Kinds[K]['result']]?: ResultField<Kinds[K]['result'][Name]> | null;
};

export interface Job<K extends JobKind = JobKind> extends JobSummary {
  readonly object: K;
  readonly stage: string | null;
  readonly input: Readonly<Record<string, unknown>>;
  readonly error: JobError | null;
  /** As sent; `assetsOf` reads the files in it. */
  readonly result: JobResult<K> | null;
  readonly billing: Billing | null;
  /** When the download addresses expire. */
  readonly expires_at: string | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

export interface UploadMedia {
  readonly duration_seconds: number | null;
  readonly container: string | null;
  readonly video: Readonly<Record<string, unknown>> | null;
  readonly audio: Readonly<Record<string, unknown>> | null;
}

export interface Upload {
  readonly id: string;
  readonly object: 'upload';
  readonly status: UploadStatus;
  readonly purpose: UploadPurpose | null;
  readonly file_name: string | null;
  readonly content_type: string | null;
  readonly size_bytes: number | null;
  /** Where the bytes go; null once they are there. `expires_at` is empty when the service does not state it. */
  readonly upload_request: UploadTarget | null;
  readonly media: UploadMedia | null;
  readonly subtitle: { readonly lines: number | null; readonly duration_seconds: number | null } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly client_reference: string | null;
  readonly created_at: string | null;
  readonly updated_at: string | null;
  readonly expires_at: string | null;
  readonly detail_url: string;
}

/** Credits may have decimals; null in the month where the service states nothing or sets no limit. */
export interface CreditBalance {
  readonly object: 'credit_balance';
  readonly balance_credits: number;
  readonly reserved_credits: number;
  readonly available_credits: number;
  readonly monthly_usage: {
    /** `2026-11`. */
    readonly month: string | null;
    readonly time_zone: string;
    readonly used_credits: number | null;
    readonly limit_credits: number | null;
    readonly remaining_credits: number | null;
    readonly resets_at: string | null;
  };
}

export interface CreditTransaction {
  readonly id: string | null;
  readonly object: 'credit_transaction';
  /** Signed; negative means deduction. */
  readonly amount: number;
  readonly capability: JobKind | string | null;
  readonly job_id: string | null;
  readonly client_reference: string | null;
  readonly unit: string | null;
  readonly quantity: number | null;
  readonly posted_at: string | null;
}
