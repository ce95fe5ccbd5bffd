/** Resources in the forms that a server has been given. */
import { createHash } from 'node:crypto';
import type { Has } from './forms.ts';
import { ASSETS, type Given, linesOf, type ResultFile } from './media.ts';
import type { Desk } from './service.ts';

export interface StoredUpload {
  readonly number: number;
  readonly id: string;
  readonly owner: string;
  readonly purpose: unknown;
  readonly request: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  status: string;
  bytes: Buffer | null;
  md5: string | null;
}

export interface StoredJob {
  readonly number: number;
  readonly id: string;
  readonly path: string;
  readonly owner: string;
  /** The Idempotency-Key that made it. */
  readonly intent: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly reference: unknown;
  /** What it works on, and the digest of that. */
  readonly given: Given;
  readonly input: string;
  readonly language: string;
  readonly mark: string;
  readonly createdAt: number;
  /** How often it was looked at. */
  looks: number;
  status: string;
  endedAt: number | null;
  /** Of its result, once it has one. */
  files: Readonly<Record<string, ResultFile>>;
  /** How often each of them was sent whole. */
  readonly downloads: Record<string, number>;
}

function timeOf(has: Has, ms: number): string {
  if (!has('times-offset')) return new Date(ms).toISOString();
  return `${new Date(ms + 8 * 60 * 60_000).toISOString().slice(0, 19)}+08:00`;
}

function unknownFields(has: Has): object {
  return has('fields-unknown') ? { region: 'ap-east', _links: [{ rel: 'self' }], flags: null } : {};
}

export function uploadShape({ has, origin }: Desk, upload: StoredUpload): object {
  const base = { id: upload.id, status: upload.status, ...unknownFields(has) };
  const target = upload.status === 'waiting_for_upload' ? targetShape(has, origin(), upload.id) : {};
  if (has('upload-sparse')) return { ...base, ...target };
  if (has('upload-no-media')) return { ...base, ...target, purpose: upload.purpose };
  const isVideo = upload.purpose === 'source_video' && upload.status === 'ready';
  const media = isVideo ? { duration_seconds: 12, container: 'mp4', video: null, audio: null } : null;
  const { file_name, content_type, size_bytes, client_reference } = upload.request;
  const echoed = { file_name, content_type, size_bytes, client_reference: client_reference ?? null };
  const times = {
    created_at: timeOf(has, upload.createdAt),
    updated_at: timeOf(has, upload.createdAt),
    detail_url: `/v1/uploads/${encodeURIComponent(upload.id)}`,
  };
  return { ...base, ...target, object: 'upload', purpose: upload.purpose, ...echoed, media, ...times };
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

/** Slow: its progress is 7.5 while it is polled, then it is done. */
function progressOf(has: Has, job: StoredJob): number {
  if (job.status === 'succeeded') return 100;
  return has('progress-slow') ? 7.5 : Math.min(99, job.looks * 30);
}

export function jobSummary({ has, origin }: Desk, job: StoredJob): object {
  const detail = `/v1/${job.path}/${encodeURIComponent(job.id)}`;
  return {
    id: job.id,
    object: ASSETS[job.path]?.object,
    status: job.status,
    progress: progressOf(has, job),
    client_reference: job.reference ?? null,
    created_at: timeOf(has, job.createdAt),
    updated_at: timeOf(has, job.endedAt ?? job.createdAt),
    detail_url: has('detail-url-absolute') ? origin() + detail : detail,
    ...unknownFields(has),
  };
}

export function jobShape(desk: Desk, job: StoredJob): object {
  const { has } = desk;
  const done = job.status === 'succeeded';
  const failed = job.status === 'failed';
  const expiry = done && has('expiry-on-job') ? { expires_at: timeOf(has, lapseOf(desk, job)) } : {};
  const shown = { ...jobSummary(desk, job), billing: billingShape(has, job), ...expiry };
  if (has('job-bare')) return done ? { ...shown, result: resultShape(desk, job) } : shown;
  return {
    ...shown,
    ...(has('stage-unknown') ? { stage: 'polishing' } : {}),
    ...(has('input-none') ? {} : { input: job.request }),
    error: failed ? jobError(has) : null,
    result: done ? resultShape(desk, job) : null,
  };
}

function billingShape(has: Has, { status }: StoredJob): object {
  if (has('billing-empty')) return {};
  if (has('billing-unknown')) {
    return { status: 'under_review', unit: 'video_minute', reserved_credits: '1.5' };
  }
  if (status === 'succeeded') return { status: 'settled', charged_credits: 1 };
  const isOpen = status === 'queued' || status === 'processing';
  return { status: isOpen ? 'reserved' : 'released', charged_credits: null };
}

/** When the addresses of a result expire. */
export function lapseOf({ options, now }: Desk, { endedAt }: StoredJob): number {
  return (endedAt ?? now()) + options.linkMs;
}

function jobError(has: Has): object {
  if (has('job-error-detail')) return { code: 'LIPS_NOT_FOUND', detail: 'Nobody speaks.', retryable: false };
  return { code: 'ENGINE_ERROR', message: 'it broke', retryable: true };
}

function resultShape(desk: Desk, job: StoredJob): object {
  const { has, origin } = desk;
  const files = Object.entries(job.files).map(([name, file]) => [name, assetShape(desk, job, name, file)]);
  const hasLines = 'subtitle' in job.files;
  const more = has('lines-extra-fields') ? { speaker: 'A', confidence: 0.9 } : {};
  const lines = linesOf(job, desk.options.translate).map((line) => ({ ...line, ...more }));
  return {
    ...Object.fromEntries(files),
    ...(hasLines ? { lines } : {}),
    ...(hasLines && !has('result-no-language') ? { language: job.language } : {}),
    ...(has('result-extra-asset') ? { preview: { url: `${origin()}/cdn/preview` } } : {}),
    ...(has('expiry-on-result') ? { expires_at: timeOf(has, lapseOf(desk, job)) } : {}),
  };
}

function assetShape(desk: Desk, job: StoredJob, name: string, { bytes, type }: ResultFile): object | string {
  const { has, origin } = desk;
  const path = `/cdn/${encodeURIComponent(job.id)}/${name}?token=canary-${desk.links.round}`;
  const url = has('asset-relative') ? path : origin() + path;
  if (has('asset-text')) return url;
  const hex = createHash('sha256').update(bytes).digest('hex');
  const sha256 = has('asset-upper-sha256') ? hex.toUpperCase() : hex;
  const elsewhere = has('expiry-on-result') || has('expiry-on-job') || has('expiry-unknown');
  return {
    ...(has('asset-download_url') ? { download_url: url } : { url }),
    ...(has('asset-no-sha256') ? {} : { sha256 }),
    ...(has('asset-no-size') ? {} : { size_bytes: bytes.length }),
    ...(has('asset-no-type') ? {} : { content_type: type }),
    ...(elsewhere ? {} : { expires_at: timeOf(has, lapseOf(desk, job)) }),
  };
}

/** Of the whole workspace: two credits are reserved by another key, and half of one has expired. */
const RESERVED_ELSEWHERE = 2;
const EXPIRED = 0.5;
/** Of this key, before the first job of the test. */
const USED_BEFORE = 11.5;
const LIMIT = 500;

/** @param open how many jobs have a reservation, @param charged how many have been charged */
export function balanceShape({ has, options }: Desk, open: number, charged: number): object {
  const amount = (value: number) => (has('credits-text') ? value.toFixed(3) : value);
  const balance = options.credits - charged;
  const reserved = RESERVED_ELSEWHERE + open;
  const used = USED_BEFORE + open + charged;
  const limits = { limit_credits: amount(LIMIT), remaining_credits: amount(LIMIT - used) };
  const month = { month: '2026-11', time_zone: 'Asia/Shanghai', used_credits: amount(used) };
  return {
    balance_credits: amount(balance),
    reserved_credits: amount(reserved),
    available_credits: amount(balance - reserved - EXPIRED),
    ...(has('credits-top-level') ? limits : {}),
    ...(has('credits-no-month')
      ? {}
      : { monthly_usage: { ...month, ...(has('credits-top-level') ? {} : limits) } }),
    ...unknownFields(has),
  };
}

export interface LedgerLine {
  readonly number: number;
  readonly createdAt: number;
  readonly amount: number;
}

export function transactionShape(has: Has, { number, amount, createdAt }: LedgerLine): object {
  if (has('transaction-amount')) return { amount };
  if (has('transaction-sparse')) {
    return { transaction_id: `t/${number}`, amount: amount.toFixed(1), at: 'yesterday' };
  }
  return { id: `txn-${number}`, amount, capability: 'dubbing', posted_at: timeOf(has, createdAt) };
}
