/** Resources in the forms that a server has been given. */
import { createHash } from 'node:crypto';
import type { Has } from './forms.ts';
import { ASSETS, FILES } from './media.ts';

export interface StoredUpload {
  readonly id: string;
  readonly purpose: unknown;
  status: string;
  md5: string | null;
}

export interface StoredJob {
  readonly id: string;
  readonly path: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  /** How often it was looked at. */
  looks: number;
  status: string;
}

const DAY_MS = 24 * 60 * 60_000;

export function timeOf(has: Has, ms: number): string {
  if (!has('times-offset')) return new Date(ms).toISOString();
  return `${new Date(ms + 8 * 60 * 60_000).toISOString().slice(0, 19)}+08:00`;
}

function unknownFields(has: Has): object {
  return has('fields-unknown') ? { region: 'ap-east', _links: [{ rel: 'self' }], flags: null } : {};
}

export function uploadShape(has: Has, origin: string, upload: StoredUpload): object {
  const base = { id: upload.id, status: upload.status, ...unknownFields(has) };
  const target = upload.status === 'waiting_for_upload' ? targetShape(has, origin, upload.id) : {};
  if (has('upload-sparse')) return { ...base, ...target };
  const media = { duration_seconds: 12, container: 'mp4', video: null, audio: null };
  return { ...base, ...target, object: 'upload', purpose: upload.purpose, media };
}

function targetShape(has: Has, origin: string, id: string): object {
  const path = `/bucket/${id}?credential=canary`;
  const url = has('target-relative') ? path : origin + path;
  const type = { 'x-amz-meta-id': id };
  const headers = has('target-headers-array')
    ? { headers: Object.entries(type).map(([name, value]) => ({ name, value })) }
    : has('target-headers-none')
      ? {}
      : { headers: type };
  const method = has('target-no-method') ? {} : { method: 'put' };
  const target = { ...(has('target-upload_url') ? { upload_url: url } : { url }), ...headers, ...method };
  if (has('target-upload_target')) return { upload_target: target };
  if (has('target-direct_upload')) return { direct_upload: target };
  return has('target-upload') ? { upload: target } : { upload_request: target };
}

/** Slow: stands at 7.5 while it is looked at, then it is done. */
function progressOf(has: Has, job: StoredJob): number {
  if (job.status === 'succeeded') return 100;
  return has('progress-slow') ? 7.5 : Math.min(99, job.looks * 30);
}

export function jobSummary(has: Has, origin: string, job: StoredJob): object {
  const detail = `/v1/${job.path}/${encodeURIComponent(job.id)}`;
  return {
    id: job.id,
    object: ASSETS[job.path]?.object,
    status: job.status,
    progress: progressOf(has, job),
    client_reference: job.request.client_reference ?? null,
    created_at: timeOf(has, job.createdAt),
    updated_at: timeOf(has, job.createdAt),
    detail_url: has('detail-url-absolute') ? origin + detail : detail,
    ...unknownFields(has),
  };
}

export function jobShape(has: Has, origin: string, job: StoredJob): object {
  const done = job.status === 'succeeded';
  const failed = job.status === 'failed';
  const billing = has('billing-unknown')
    ? { status: 'under_review', unit: 'video_minute', reserved_credits: '1.5' }
    : { status: done ? 'settled' : 'reserved', charged_credits: done ? 1 : null };
  const expiry = done && has('expiry-on-job') ? { expires_at: timeOf(has, Date.now() + DAY_MS) } : {};
  return {
    ...jobSummary(has, origin, job),
    ...(has('stage-unknown') ? { stage: 'polishing' } : {}),
    billing,
    ...expiry,
    error: failed ? jobError(has) : null,
    result: done ? resultShape(has, origin, job) : null,
  };
}

function jobError(has: Has): object {
  if (has('job-error-detail')) return { code: 'LIPS_NOT_FOUND', detail: 'Nobody speaks.', retryable: false };
  return { code: 'ENGINE_ERROR', message: 'it broke', retryable: true };
}

function resultShape(has: Has, origin: string, job: StoredJob): object {
  const names = ASSETS[job.path]?.names ?? [];
  const files = names.map((name) => [name, assetShape(has, origin, job, name)]);
  const hasLines = names.includes('subtitle');
  const more = has('lines-extra-fields') ? { speaker: 'A', confidence: 0.9 } : {};
  const lines = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hola', ...more }];
  return {
    ...Object.fromEntries(files),
    ...(hasLines ? { lines } : {}),
    ...(hasLines && !has('result-no-language') ? { language: 'es' } : {}),
    ...(has('result-extra-asset') ? { preview: { url: `${origin}/cdn/preview` } } : {}),
    ...(has('expiry-on-result') ? { expires_at: timeOf(has, Date.now() + DAY_MS) } : {}),
  };
}

function assetShape(has: Has, origin: string, job: StoredJob, name: string): object | string {
  const path = `/cdn/${encodeURIComponent(job.id)}/${name}?token=canary`;
  const url = has('asset-relative') ? path : origin + path;
  if (has('asset-text')) return url;
  const bytes = FILES[name] ?? Buffer.alloc(0);
  const hex = createHash('sha256').update(bytes).digest('hex');
  const sha256 = has('asset-upper-sha256') ? hex.toUpperCase() : hex;
  const elsewhere = has('expiry-on-result') || has('expiry-on-job') || has('expiry-unknown');
  return {
    ...(has('asset-download_url') ? { download_url: url } : { url }),
    ...(has('asset-no-sha256') ? {} : { sha256 }),
    ...(has('asset-no-size') ? {} : { size_bytes: bytes.length }),
    ...(elsewhere ? {} : { expires_at: timeOf(has, Date.now() + DAY_MS) }),
  };
}

export function balanceShape(has: Has): object {
  const amount = (value: number) => (has('credits-text') ? value.toFixed(3) : value);
  const limits = { limit_credits: amount(500), remaining_credits: amount(488.5) };
  const month = { month: '2026-11', time_zone: 'Asia/Shanghai', used_credits: amount(11.5) };
  return {
    balance_credits: amount(100),
    reserved_credits: amount(2),
    available_credits: amount(97.5),
    ...(has('credits-top-level') ? limits : {}),
    ...(has('credits-no-month')
      ? {}
      : { monthly_usage: { ...month, ...(has('credits-top-level') ? {} : limits) } }),
    ...unknownFields(has),
  };
}

export function transactionShape(has: Has, number: number): object {
  if (has('transaction-sparse')) return { transaction_id: `t/${number}`, amount: '-1.5', at: 'yesterday' };
  return { id: `txn-${number}`, amount: -1.5, capability: 'dubbing', posted_at: timeOf(has, Date.now()) };
}
