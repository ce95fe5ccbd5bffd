import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import type { JobSummary } from '../../protocol/resources.ts';
import { JOB_STATUSES } from '../../protocol/states.ts';
import {
  asNumber,
  asObject,
  asText,
  type JsonObject,
  member,
  needObject,
  needOneOf,
  needText,
} from './record.ts';
import { rememberRequest } from './request-ids.ts';
import type { Billing, Job, JobError } from './resources.ts';

/** An entry of a list of jobs. Source: specification, "Business job list item". */
export function readJobSummary(kind: JobKind, body: unknown, requestId: string | null): JobSummary {
  const origin = { subject: 'the job', requestId };
  const object = needObject(origin, body);
  const id = needText(origin, object, 'id');
  return {
    id,
    object: kind,
    status: needOneOf(origin, object, 'status', JOB_STATUSES),
    progress: Math.min(100, Math.max(0, asNumber(member(object, 'progress')) ?? 0)),
    client_reference: asText(member(object, 'client_reference')),
    created_at: asText(member(object, 'created_at')) ?? '',
    updated_at: asText(member(object, 'updated_at')) ?? '',
    detail_url: asText(member(object, 'detail_url')) ?? `/v1/${KINDS[kind].path}/${id}`,
  };
}

/**
 * A single job: needs `id` and `status`, all else may be missing.
 * @throws Failure naming the field and the request
 */
export function readJob(kind: JobKind, body: unknown, requestId: string | null): Job {
  const summary = readJobSummary(kind, body, requestId);
  const object = asObject(body) ?? {};
  const job: Job = {
    ...summary,
    stage: asText(member(object, 'stage')),
    input: asObject(member(object, 'input')) ?? {},
    error: readJobError(asObject(member(object, 'error'))),
    result: asObject(member(object, 'result')),
    billing: readBilling(asObject(member(object, 'billing'))),
    expires_at: asText(member(object, 'expires_at')),
    started_at: asText(member(object, 'started_at')),
    finished_at: asText(member(object, 'finished_at')),
  };
  return rememberRequest(job, requestId);
}

function readJobError(error: JsonObject | null): JobError | null {
  if (error === null) return null;
  const code = asText(member(error, 'code')) ?? 'UNKNOWN';
  return {
    code,
    message: asText(member(error, 'message')) ?? asText(member(error, 'detail')) ?? code,
    retryable: member(error, 'retryable') === true,
  };
}

function readBilling(billing: JsonObject | null): Billing | null {
  if (billing === null) return null;
  return {
    status: asText(member(billing, 'status')),
    unit: asText(member(billing, 'unit')),
    quantity: asNumber(member(billing, 'quantity')),
    reserved_credits: asNumber(member(billing, 'reserved_credits')),
    charged_credits: asNumber(member(billing, 'charged_credits')),
  };
}
