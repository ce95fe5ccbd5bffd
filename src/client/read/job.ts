/** Jobs and the files of their results, read leniently. Source: contract, "Jobs". */
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type Kind, type ResultPart } from '../../protocol/kinds.ts';
import type { JobSummary } from '../../protocol/resources.ts';
import { JOB_STATUSES } from '../../protocol/states.ts';
import {
  asNumber,
  asObject,
  asText,
  type JsonObject,
  missingFieldFailure,
  needId,
  needObject,
  readMember,
  readStatus,
  rememberRequest,
  requestIdOf,
  type UnknownStatusReceiver,
} from './record.ts';
import type { Asset, Billing, Job, JobError, JobResult } from './resources.ts';

/** An entry of a list of jobs. Source: specification, "Business job list item". */
export function readJobSummary(
  kind: JobKind,
  body: unknown,
  requestId: string | null,
  onUnknown?: UnknownStatusReceiver,
): JobSummary {
  const origin = { subject: 'the job', requestId };
  const object = needObject(origin, body);
  const id = needId(origin, object);
  return {
    id,
    object: kind,
    status: readStatus(origin, object, JOB_STATUSES, 'processing', onUnknown),
    progress: Math.min(100, Math.max(0, asNumber(readMember(object, 'progress')) ?? 0)),
    client_reference: asText(readMember(object, 'client_reference')),
    created_at: asText(readMember(object, 'created_at')) ?? '',
    updated_at: asText(readMember(object, 'updated_at')) ?? '',
    detail_url: asText(readMember(object, 'detail_url')) ?? `/v1/${KINDS[kind].path}/${id}`,
  };
}

/**
 * A single job: needs `id` and `status`, all else may be missing. A job with an unknown status counts as processing.
 * @throws Failure naming the field and the request
 */
export function readJob<K extends JobKind>(
  kind: K,
  body: unknown,
  requestId: string | null,
  onUnknown?: UnknownStatusReceiver,
): Job<K> {
  const summary = readJobSummary(kind, body, requestId, onUnknown);
  const object = asObject(body) ?? {};
  const job: Job<K> = {
    ...summary,
    object: kind,
    stage: asText(readMember(object, 'stage')),
    input: asObject(readMember(object, 'input')) ?? {},
    error: readJobError(asObject(readMember(object, 'error'))),
    // As sent: its type names what the kind promises, and `assetsOf` checks it.
    result: asObject(readMember(object, 'result')) as JobResult<K> | null,
    billing: readBilling(asObject(readMember(object, 'billing'))),
    expires_at: asText(readMember(object, 'expires_at')),
    started_at: asText(readMember(object, 'started_at')),
    finished_at: asText(readMember(object, 'finished_at')),
  };
  return rememberRequest(job, requestId);
}

function readJobError(error: JsonObject | null): JobError | null {
  if (error === null) return null;
  const code = asText(readMember(error, 'code')) ?? 'UNKNOWN';
  return {
    code,
    message: asText(readMember(error, 'message')) ?? asText(readMember(error, 'detail')) ?? code,
    retryable: readMember(error, 'retryable') === true,
  };
}

function readBilling(billing: JsonObject | null): Billing | null {
  if (billing === null) return null;
  return {
    status: asText(readMember(billing, 'status')),
    unit: asText(readMember(billing, 'unit')),
    quantity: asNumber(readMember(billing, 'quantity')),
    reserved_credits: asNumber(readMember(billing, 'reserved_credits')),
    charged_credits: asNumber(readMember(billing, 'charged_credits')),
  };
}

export type AssetPart = Extract<ResultPart, { type: 'asset' }>;

export interface JobAsset {
  /** The field of `result`: `vocal_audio`, `subtitle`. */
  readonly name: string;
  readonly asset: Asset;
  /** Its row in the table of kinds: extension, content type, label. */
  readonly kindPart: AssetPart;
}

/**
 * The files that a job's result promises by its kind; empty unless it succeeded.
 * @throws Failure naming the field and the request when a promised file has no address
 */
export function assetsOf(job: Job): JobAsset[] {
  if (job.status !== 'succeeded') return [];
  const parts: Kind['result'] = KINDS[job.object].result;
  return Object.entries(parts).flatMap(([name, kindPart]) =>
    kindPart.type === 'asset' ? [{ name, asset: needAsset(job, name), kindPart }] : [],
  );
}

function needAsset(job: Job, name: string): Asset {
  const value = job.result === null ? undefined : readMember(job.result, name);
  const inherited = asText(job.result?.expires_at) ?? job.expires_at;
  const asset = readAsset(value, inherited);
  if (asset !== null) return asset;
  const origin = { subject: `the job ${job.id}`, requestId: requestIdOf(job) };
  throw missingFieldFailure(origin, `result.${name}`, value).with({ jobId: job.id });
}

function readAsset(value: unknown, inheritedExpiry: string | null): Asset | null {
  const object: JsonObject | null = typeof value === 'string' ? { url: value } : asObject(value);
  if (object === null) return null;
  const url = asText(readMember(object, 'url')) ?? asText(readMember(object, 'download_url'));
  if (url === null) return null;
  const size = asNumber(readMember(object, 'size_bytes'));
  const sha256 = asText(readMember(object, 'sha256'))?.toLowerCase() ?? '';
  return {
    url,
    expires_at: asText(readMember(object, 'expires_at')) ?? inheritedExpiry,
    content_type: asText(readMember(object, 'content_type')),
    size_bytes: size !== null && Number.isSafeInteger(size) && size >= 0 ? size : null,
    sha256: /^[0-9a-f]{64}$/.test(sha256) ? sha256 : null,
  };
}

/** The smallest body that the reader accepts; it fills in all other fields. */
const SMALLEST_JOB = { id: '_', status: 'queued' };

/** The names of the fields of a job in a list. */
export function jobSummaryFields(): readonly string[] {
  return Object.keys(readJobSummary('dubbing', SMALLEST_JOB, null));
}

/** The names of the fields of a job. */
export function jobFields(): readonly string[] {
  return Object.keys(readJob('dubbing', SMALLEST_JOB, null));
}
