/** Answers of the service. The service sends exactly these fields; a client ignores fields that it does not need. */
// spec: open — fields of single jobs beyond the list item, of uploads and of billing are not specified.

import type { JobErrorCode } from './job-failure.ts';
import type { JobKind } from './kind-names.ts';
import type { MeteringUnit } from './kinds.ts';
import type { Media } from './media.ts';
import type { JobStatus, TerminalStatus, UploadPurpose, UploadStatus } from './states.ts';
import type { SubtitleLine } from './subtitle-line.ts';

/** The list envelope. Source: specification, "List envelope". */
export interface ListPage<Item> {
  readonly object: 'list';
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** Source: specification, "Business job list item". Times are RFC 3339, UTC, with milliseconds. */
export interface JobSummary {
  readonly id: string;
  readonly object: JobKind;
  readonly status: JobStatus;
  readonly progress: number;
  readonly client_reference: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly detail_url: string;
}

export interface BillingResource {
  readonly status: 'reserved' | 'pending_confirmation' | 'settled' | 'released';
  readonly unit: MeteringUnit;
  readonly quantity: number;
  readonly reserved_credits: number;
  readonly charged_credits: number;
}

export interface AssetResource {
  readonly url: string;
  readonly expires_at: string;
  readonly content_type: string;
  readonly size_bytes: number;
  readonly sha256: string;
}

export type ResultValue = AssetResource | string | number | readonly SubtitleLine[];

export interface JobResource extends JobSummary {
  readonly stage: string | null;
  readonly input: Readonly<Record<string, unknown>>;
  readonly error: {
    readonly code: JobErrorCode;
    readonly message: string;
    readonly retryable: boolean;
  } | null;
  readonly result: Readonly<Record<string, ResultValue>> | null;
  readonly billing: BillingResource;
  readonly expires_at: string | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

export interface UploadTarget {
  readonly method: 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expires_at: string;
}

export interface UploadResource {
  readonly id: string;
  readonly object: 'upload';
  readonly status: UploadStatus;
  readonly purpose: UploadPurpose;
  readonly file_name: string;
  readonly content_type: string;
  readonly size_bytes: number;
  readonly upload_request: UploadTarget | null;
  readonly media: Media | null;
  readonly subtitle: { readonly lines: number; readonly duration_seconds: number } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly client_reference: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly expires_at: string;
  readonly detail_url: string;
}

export interface CreditBalanceResource {
  readonly object: 'credit_balance';
  readonly balance_credits: number;
  readonly reserved_credits: number;
  readonly available_credits: number;
  readonly monthly_usage: {
    readonly month: string;
    readonly time_zone: 'Asia/Shanghai';
    readonly used_credits: number;
    readonly limit_credits: number | null;
    readonly remaining_credits: number | null;
    readonly resets_at: string;
  };
}

export interface CreditTransactionResource {
  readonly id: string;
  readonly object: 'credit_transaction';
  readonly amount: number;
  readonly capability: JobKind;
  readonly job_id: string;
  readonly client_reference: string | null;
  readonly unit: MeteringUnit;
  readonly quantity: number;
  readonly posted_at: string;
}

/** The event sent to a `callback_url`. Source: specification, "Events"; contract, "Webhooks". */
export interface JobEvent {
  readonly id: string;
  readonly object: 'event';
  readonly type: `${JobKind}.${TerminalStatus}`;
  readonly created_at: string;
  readonly data: {
    readonly id: string;
    readonly object: JobKind;
    readonly status: TerminalStatus;
    readonly client_reference: string | null;
    readonly detail_url: string;
  };
}
