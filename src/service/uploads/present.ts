import { VERSION_PREFIX } from '../../protocol/operations.ts';
import type { Upload, UploadTarget } from '../../protocol/resources.ts';
import { formatInstant } from '../clock.ts';
import type { Context } from '../context.ts';
import { OBJECTS_PATH } from '../links/paths.ts';
import type { Permission } from '../links/signer.ts';
import type { SubtitleFacts, UploadRow } from './rows.ts';

/** What the direct-upload address of an upload permits. */
export function uploadPermission(row: UploadRow): Permission {
  return {
    method: 'PUT',
    path: `${OBJECTS_PATH}/${row.id}`,
    contentType: row.content_type,
    sizeBytes: row.size_bytes,
    expiresAt: row.expires_at,
  };
}

/** The upload resource. Source: contract, "Uploads". */
export function presentUpload(context: Pick<Context, 'links' | 'origin'>, row: UploadRow): Upload {
  return {
    id: row.id,
    object: 'upload',
    status: row.status,
    purpose: row.purpose,
    file_name: row.file_name,
    content_type: row.content_type,
    size_bytes: row.size_bytes,
    upload_request: row.status === 'waiting_for_upload' ? describeTarget(context, row) : null,
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

function describeTarget(context: Pick<Context, 'links' | 'origin'>, row: UploadRow): UploadTarget {
  return {
    method: 'PUT',
    url: context.origin() + context.links.sign(uploadPermission(row)),
    headers: { 'Content-Type': row.content_type },
    expires_at: formatInstant(row.expires_at),
  };
}

function presentSubtitle(text: string): NonNullable<Upload['subtitle']> {
  const facts: SubtitleFacts = JSON.parse(text);
  return { lines: facts.lines, duration_seconds: facts.duration_seconds };
}
