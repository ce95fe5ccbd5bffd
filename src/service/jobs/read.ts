/** Jobs as shown to callers, and the GET operations that return them. */
import { JOB_ERROR_CODES } from '../../protocol/job-failure.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { toCredits } from '../../protocol/metering.ts';
import { VERSION_PREFIX } from '../../protocol/operations.ts';
import type { BillingResource, JobResource, JobSummary, ResultValue } from '../../protocol/resources.ts';
import { JOB_STATUSES } from '../../protocol/states.ts';
import { formatInstant } from '../clock.ts';
import { kindOf, type OperationCall, type ServiceContext } from '../context.ts';
import { createJsonResponse, type ServiceResponse } from '../http/exchange.ts';
import { refuseUnknownResource } from '../http/refusal.ts';
import { type IdempotentResult, replayHeader } from '../idempotency.ts';
import { readPage } from '../lists.ts';
import type { Statements } from '../store/store.ts';
import { assetFileName, type StoredResult } from './results.ts';
import { findOwnJob, type JobRow, SUMMARY_COLUMNS, type SummaryRow } from './rows.ts';

/** The list item. Source: specification, "Business job list item". */
function presentSummary(row: SummaryRow): JobSummary {
  return {
    id: row.id,
    object: row.kind,
    status: row.status,
    progress: row.progress,
    client_reference: row.client_reference,
    created_at: formatInstant(row.created_at),
    updated_at: formatInstant(row.updated_at),
    detail_url: `${VERSION_PREFIX}/${KINDS[row.kind].path}/${row.id}`,
  };
}

/** The single resource. Source: contract, "Jobs". */
async function presentJob(context: Pick<ServiceContext, 'storage'>, row: JobRow): Promise<JobResource> {
  return {
    ...presentSummary(row),
    stage: row.stage,
    input: JSON.parse(row.input),
    error: presentError(row),
    result: await presentResult(context, row),
    billing: presentBilling(row),
    expires_at: formatOptional(row.links_expire_at),
    started_at: formatOptional(row.started_at),
    finished_at: formatOptional(row.finished_at),
  };
}

const formatOptional = (ms: number | null) => (ms === null ? null : formatInstant(ms));

function presentError(row: JobRow): JobResource['error'] {
  if (row.error_code === null) return null;
  return {
    code: row.error_code,
    message: row.error_message ?? '',
    retryable: JOB_ERROR_CODES[row.error_code].retryable,
  };
}

function presentBilling(row: JobRow): BillingResource {
  return {
    status: row.billing_status,
    unit: row.unit,
    quantity: row.quantity,
    reserved_credits: toCredits(row.reserved),
    charged_credits: toCredits(row.charged),
  };
}

async function presentResult(
  { storage }: Pick<ServiceContext, 'storage'>,
  row: JobRow,
): Promise<JobResource['result']> {
  if (row.result === null || row.links_expire_at === null) return null;
  const { id: jobId, kind, folder, links_expire_at: expiresAt } = row;
  const stored: StoredResult = JSON.parse(row.result);
  // Rows of earlier versions also have the provenance among the values.
  const values = Object.entries(stored.values).filter(([name]) => Object.hasOwn(KINDS[kind].result, name));
  const result: Record<string, ResultValue> = Object.fromEntries(values);
  for (const [name, asset] of Object.entries(stored.assets)) {
    const file = { contentType: asset.content_type, fileName: assetFileName(kind, name, jobId) };
    // Without a folder the files are gone, and the address says so.
    const url = await storage.resultUrl({ jobId, name, folder: folder ?? jobId, ...file, expiresAt });
    result[name] = { url, expires_at: formatInstant(expiresAt), ...asset };
  }
  return result;
}

/** The single GET of every job kind. */
export async function getJob(context: ServiceContext, call: OperationCall): Promise<ServiceResponse> {
  return createJsonResponse(
    200,
    await presentJob(context, await requireOwnJob(context.store, call, call.resourceId)),
  );
}

/** Returns the job of a call. @throws Refusal RESOURCE_NOT_FOUND */
export async function requireOwnJob(store: Statements, call: OperationCall, id: string): Promise<JobRow> {
  const row = await findOwnJob(store, { id, keyId: call.key.id, kind: kindOf(call), now: call.now });
  if (row === undefined) throw refuseUnknownResource();
  return row;
}

/** Answers a POST or DELETE with the current state of the job. */
export async function answerJob(
  context: ServiceContext,
  call: OperationCall,
  outcome: IdempotentResult,
  headers: Readonly<Record<string, string>> = {},
): Promise<ServiceResponse> {
  const row = await requireOwnJob(context.store, call, outcome.resourceId);
  return createJsonResponse(outcome.status, await presentJob(context, row), {
    ...headers,
    ...replayHeader(outcome),
  });
}

/** The list of every job kind: summaries, newest first. */
export async function listJobs(context: ServiceContext, call: OperationCall): Promise<ServiceResponse> {
  const page = await readPage<SummaryRow, JobSummary>(context, call, {
    table: 'jobs',
    columns: SUMMARY_COLUMNS,
    timeColumn: 'created_at',
    conditions: [
      { sql: 'kind = ?', values: [kindOf(call)] },
      { sql: 'created_at > ?', values: [call.now - LIMITS.retentionMs] },
    ],
    filters: {
      status: { values: JOB_STATUSES },
      client_reference: { maxLength: LIMITS.clientReferenceLength },
    },
    positionOf: (row) => ({ time: row.created_at, id: row.id }),
    present: presentSummary,
  });
  return createJsonResponse(200, page);
}
