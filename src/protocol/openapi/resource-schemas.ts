/** Strict validators of the service's answers. Each has exactly the shape of its type. */
import * as v from 'valibot';
import { ID_PREFIXES, type IdSubject } from '../id-prefixes.ts';
import { JOB_KIND_NAMES } from '../kind-names.ts';
import { LIMITS } from '../limits.ts';
import type { Problem } from '../problem.ts';
import type { CreditBalanceResource, CreditTransactionResource, UploadResource } from '../resources.ts';
import { shapeOf } from '../shape.ts';
import { UPLOAD_PURPOSES, UPLOAD_STATUSES } from '../states.ts';

export const idOf = (subject: IdSubject) =>
  v.pipe(v.string(), v.regex(new RegExp(`^${ID_PREFIXES[subject]}_[0-9a-hjkmnp-tv-z]{26}$`)));
export const Instant = v.pipe(v.string(), v.isoTimestamp());
export const Url = v.pipe(v.string(), v.url());
/** Relative, with the version prefix. */
export const Path = v.pipe(v.string(), v.regex(/^\/v1\/[!-~]+$/));
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const Credits = v.pipe(v.number(), v.minValue(0));
export const Seconds = v.pipe(v.number(), v.minValue(0));
export const Reference = v.nullable(
  v.pipe(v.string(), v.minLength(1), v.metadata({ maxLength: LIMITS.clientReferenceLength })),
);
export const Unit = v.picklist(['started_minute', 'line', 'started_thousand_characters']);

const MediaSchema = v.strictObject({
  duration_seconds: Seconds,
  container: v.string(),
  video: v.nullable(
    v.strictObject({ codec: v.string(), width: Count, height: Count, frame_rate: v.number() }),
  ),
  audio: v.nullable(v.strictObject({ codec: v.string(), sample_rate: Count, channels: Count })),
});

export const UploadSchema = shapeOf<UploadResource>()(
  v.strictObject({
    id: idOf('upload'),
    object: v.literal('upload'),
    status: v.picklist(UPLOAD_STATUSES),
    purpose: v.picklist(UPLOAD_PURPOSES),
    file_name: v.string(),
    content_type: v.string(),
    size_bytes: Count,
    upload_request: v.nullable(
      v.strictObject({
        method: v.literal('PUT'),
        url: Url,
        headers: v.record(v.string(), v.string()),
        expires_at: Instant,
      }),
    ),
    media: v.nullable(MediaSchema),
    subtitle: v.nullable(v.strictObject({ lines: Count, duration_seconds: Seconds })),
    error: v.nullable(v.strictObject({ code: v.string(), message: v.string() })),
    client_reference: Reference,
    created_at: Instant,
    updated_at: Instant,
    expires_at: Instant,
    detail_url: Path,
  }),
);

export const CreditBalanceSchema = shapeOf<CreditBalanceResource>()(
  v.strictObject({
    object: v.literal('credit_balance'),
    balance_credits: v.number(),
    reserved_credits: Credits,
    available_credits: Credits,
    monthly_usage: v.strictObject({
      month: v.pipe(v.string(), v.regex(/^\d{4}-\d{2}$/)),
      time_zone: v.literal('Asia/Shanghai'),
      used_credits: Credits,
      limit_credits: v.nullable(Credits),
      remaining_credits: v.nullable(Credits),
      resets_at: Instant,
    }),
  }),
);

export const CreditTransactionSchema = shapeOf<CreditTransactionResource>()(
  v.strictObject({
    id: idOf('credit_transaction'),
    object: v.literal('credit_transaction'),
    amount: v.number(),
    capability: v.picklist(JOB_KIND_NAMES),
    job_id: v.string(),
    client_reference: Reference,
    unit: Unit,
    quantity: Count,
    posted_at: Instant,
  }),
);

export const ProblemSchema = shapeOf<Problem>()(
  v.strictObject({
    type: Url,
    title: v.string(),
    status: v.pipe(v.number(), v.integer(), v.minValue(400), v.maxValue(599)),
    detail: v.string(),
    instance: v.string(),
    code: v.string(),
    request_id: idOf('request'),
    retryable: v.boolean(),
    errors: v.exactOptional(v.array(v.strictObject({ pointer: v.string(), detail: v.string() }))),
  }),
);
