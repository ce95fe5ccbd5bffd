/** Uploads as shown to callers, and the GET operations that return them. */
import { LIMITS } from '../../protocol/limits.ts';
import { VERSION_PREFIX } from '../../protocol/operations.ts';
import type { UploadResource, UploadTarget } from '../../protocol/resources.ts';
import { UPLOAD_PURPOSES, UPLOAD_STATUSES } from '../../protocol/states.ts';
import { formatInstant } from '../clock.ts';
import type { OperationCall, ServiceContext } from '../context.ts';
import { createJsonResponse, type ServiceResponse } from '../http/exchange.ts';
import { refuseUnknownResource } from '../http/refusal.ts';
import { type IdempotentResult, replayHeader } from '../idempotency.ts';
import { readPage } from '../lists.ts';
import { expireUploads, findOwnUpload, type SubtitleFacts, UPLOAD_COLUMNS, type UploadRow } from './rows.ts';

/** The upload resource. Source: contract, "Uploads". */
async function presentUpload(
  context: Pick<ServiceContext, 'storage'>,
  row: UploadRow,
): Promise<UploadResource> {
  return {
    id: row.id,
    object: 'upload',
    status: row.status,
    purpose: row.purpose,
    file_name: row.file_name,
    content_type: row.content_type,
    size_bytes: row.size_bytes,
    upload_request: row.status === 'waiting_for_upload' ? await describeTarget(context, row) : null,
    media: row.media === null ? null : JSON.parse(row.media),
    subtitle: row.subtitle === null ? null : presentSubtitle(row.subtitle),
    error: row.error === null ? null : JSON.parse(row.error),
    client_reference: row.client_reference,
    created_at: formatInstant(row.created_at),
    updated_at: formatInstant(row.updated_at),
    expires_at: formatInstant(row.expires_at),
    detail_url: `${VERSION_PREFIX}/uploads/${row.id}`,
  };
}

async function describeTarget(
  { storage }: Pick<ServiceContext, 'storage'>,
  row: UploadRow,
): Promise<UploadTarget> {
  return { method: 'PUT', ...(await storage.uploadTarget(row)), expires_at: formatInstant(row.expires_at) };
}

function presentSubtitle(text: string): NonNullable<UploadResource['subtitle']> {
  const facts: SubtitleFacts = JSON.parse(text);
  return { lines: facts.lines, duration_seconds: facts.duration_seconds };
}

/** `GET /uploads/{upload_id}`. */
export async function getUpload(context: ServiceContext, call: OperationCall): Promise<ServiceResponse> {
  const row = await findOwnUpload(context.store, call.key.id, call.resourceId, call.now);
  if (row === undefined) throw refuseUnknownResource();
  return createJsonResponse(200, await presentUpload(context, row));
}

/** Answers a POST with the current state of the upload. */
export async function answerUpload(
  context: ServiceContext,
  call: OperationCall,
  outcome: IdempotentResult,
  headers: Readonly<Record<string, string>> = {},
): Promise<ServiceResponse> {
  const row = await findOwnUpload(context.store, call.key.id, outcome.resourceId, call.now);
  if (row === undefined) throw refuseUnknownResource();
  return createJsonResponse(outcome.status, await presentUpload(context, row), {
    ...headers,
    ...replayHeader(outcome),
  });
}

/** `GET /uploads`: newest first. */
export async function listUploads(context: ServiceContext, call: OperationCall): Promise<ServiceResponse> {
  await expireUploads(context.store, call.now);
  const page = await readPage<UploadRow, UploadResource>(context, call, {
    table: 'uploads',
    columns: UPLOAD_COLUMNS,
    timeColumn: 'created_at',
    conditions: [{ sql: 'created_at > ?', values: [call.now - LIMITS.retentionMs] }],
    filters: { status: { values: UPLOAD_STATUSES }, purpose: { values: UPLOAD_PURPOSES } },
    positionOf: (row) => ({ time: row.created_at, id: row.id }),
    present: (row) => presentUpload(context, row),
  });
  return createJsonResponse(200, page);
}
