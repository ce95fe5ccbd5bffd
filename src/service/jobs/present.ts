import { JOB_ERROR_CODES } from '../../protocol/job-failure.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { VERSION_PREFIX } from '../../protocol/operations.ts';
import type { Billing, Job, JobSummary, ResultValue } from '../../protocol/resources.ts';
import { formatInstant } from '../clock.ts';
import type { Context } from '../context.ts';
import { toCredits } from '../credits/amount.ts';
import { ASSETS_PATH } from '../links/paths.ts';
import type { Permission } from '../links/signer.ts';
import type { StoredResult } from './results.ts';
import type { JobRow, SummaryRow } from './rows.ts';

/** The list item. Source: specification, "Business job list item". */
export function presentSummary(row: SummaryRow): JobSummary {
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
export function presentJob(context: Pick<Context, 'links' | 'origin'>, row: JobRow): Job {
  return {
    ...presentSummary(row),
    stage: row.stage,
    input: JSON.parse(row.input),
    error: presentError(row),
    result: presentResult(context, row),
    billing: presentBilling(row),
    expires_at: formatOptional(row.links_expire_at),
    started_at: formatOptional(row.started_at),
    finished_at: formatOptional(row.finished_at),
  };
}

const formatOptional = (ms: number | null) => (ms === null ? null : formatInstant(ms));

function presentError(row: JobRow): Job['error'] {
  if (row.error_code === null) return null;
  return {
    code: row.error_code,
    message: row.error_message ?? '',
    retryable: JOB_ERROR_CODES[row.error_code].retryable,
  };
}

function presentBilling(row: JobRow): Billing {
  return {
    status: row.billing_status,
    unit: row.unit,
    quantity: row.quantity,
    reserved_credits: toCredits(row.reserved),
    charged_credits: toCredits(row.charged),
  };
}

/** What the download address of an asset permits. */
export function assetPermission(jobId: string, name: string, expiresAt: number): Permission {
  return { method: 'GET', path: `${ASSETS_PATH}/${jobId}/${name}`, expiresAt };
}

function presentResult(context: Pick<Context, 'links' | 'origin'>, row: JobRow): Job['result'] {
  if (row.result === null || row.links_expire_at === null) return null;
  const expiresAt = row.links_expire_at;
  const stored: StoredResult = JSON.parse(row.result);
  const result: Record<string, ResultValue> = { ...stored.values };
  for (const [name, asset] of Object.entries(stored.assets)) {
    const address = context.links.sign(assetPermission(row.id, name, expiresAt));
    result[name] = { url: context.origin() + address, expires_at: formatInstant(expiresAt), ...asset };
  }
  return result;
}
