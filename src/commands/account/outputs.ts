/** Output schemas for the records of a service: jobs, uploads, credits, and any answer to `vloc api`. */
import * as v from 'valibot';
import type {
  CreditBalance,
  CreditTransaction,
  Job,
  JobSummary,
  Upload,
} from '../../client/read/resources.ts';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { shapeOf } from '../../protocol/openapi/json-schemas.ts';
import { JOB_STATUSES, UPLOAD_PURPOSES, UPLOAD_STATUSES } from '../../protocol/states.ts';
import {
  Anything,
  describeList,
  describePrinted,
  describeRecord,
  describeRecordOrList,
  ListSummary,
  NullableNumber,
  NullableText,
} from '../context/output-schemas.ts';

const SummarySchema = shapeOf<JobSummary>()(
  v.object({
    id: v.string(),
    object: v.picklist(JOB_KIND_NAMES),
    status: v.picklist(JOB_STATUSES),
    progress: v.number(),
    client_reference: NullableText,
    created_at: v.string(),
    updated_at: v.string(),
    detail_url: v.string(),
  }),
);

const JobSchema = shapeOf<Job>()(
  v.object({
    ...SummarySchema.entries,
    stage: NullableText,
    input: Anything,
    error: v.nullable(v.object({ code: v.string(), message: v.string(), retryable: v.boolean() })),
    result: v.nullable(Anything),
    billing: v.nullable(
      v.object({
        status: NullableText,
        unit: NullableText,
        quantity: NullableNumber,
        reserved_credits: NullableNumber,
        charged_credits: NullableNumber,
      }),
    ),
    expires_at: NullableText,
    started_at: NullableText,
    finished_at: NullableText,
  }),
);

const UploadSchema = shapeOf<Upload>()(
  v.object({
    id: v.string(),
    object: v.literal('upload'),
    status: v.picklist(UPLOAD_STATUSES),
    purpose: v.nullable(v.picklist(UPLOAD_PURPOSES)),
    file_name: NullableText,
    content_type: NullableText,
    size_bytes: NullableNumber,
    upload_request: v.nullable(
      v.object({
        method: v.literal('PUT'),
        url: v.string(),
        headers: v.record(v.string(), v.string()),
        expires_at: v.string(),
      }),
    ),
    media: v.nullable(
      v.object({
        duration_seconds: NullableNumber,
        container: NullableText,
        video: v.nullable(Anything),
        audio: v.nullable(Anything),
      }),
    ),
    subtitle: v.nullable(v.object({ lines: NullableNumber, duration_seconds: NullableNumber })),
    error: v.nullable(v.object({ code: v.string(), message: v.string() })),
    client_reference: NullableText,
    created_at: NullableText,
    updated_at: NullableText,
    expires_at: NullableText,
    detail_url: v.string(),
  }),
);

const BalanceSchema = shapeOf<CreditBalance>()(
  v.object({
    object: v.literal('credit_balance'),
    balance_credits: v.number(),
    reserved_credits: v.number(),
    available_credits: v.number(),
    monthly_usage: v.object({
      month: NullableText,
      time_zone: v.string(),
      used_credits: NullableNumber,
      limit_credits: NullableNumber,
      remaining_credits: NullableNumber,
      resets_at: NullableText,
    }),
  }),
);

const TransactionSchema = shapeOf<CreditTransaction>()(
  v.object({
    id: NullableText,
    object: v.literal('credit_transaction'),
    amount: v.number(),
    capability: NullableText,
    job_id: NullableText,
    client_reference: NullableText,
    unit: NullableText,
    quantity: NullableNumber,
    posted_at: NullableText,
  }),
);

export const JOB_RECORDS = describeRecordOrList(JobSchema);
export const LISTED_JOBS = describeList(v.object({ ...SummarySchema.entries, input: NullableText }));
export const UPLOAD_RECORD = describeRecord(UploadSchema);
export const UPLOAD_LIST = describeList(UploadSchema);
export const UPLOAD_RECORDS = describeRecordOrList(UploadSchema);
export const CREDIT_BALANCE = describeRecord(BalanceSchema);
export const CREDIT_TRANSACTIONS = describeList(TransactionSchema);

/** The answer of the service, or the entries of all pages. */
export const ANY_ANSWER = describePrinted({ json: [v.unknown()], ndjson: [v.unknown(), ListSummary] });
