/** Handlers that reserve an upload and complete it. */
import { isIdOf } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { UploadRequest } from '../../protocol/request-types.ts';
import { checkCompletionRequest, checkUploadRequest } from '../../protocol/requests.ts';
import type { OperationCall, ServiceContext } from '../context.ts';
import type { ServiceResponse } from '../http/exchange.ts';
import { Refusal, refuseField, refuseFields, refuseUnknownResource } from '../http/refusal.ts';
import { carryOutOnce } from '../idempotency.ts';
import type { StoredBytes } from '../storage/storage.ts';
import type { Transaction } from '../store/store.ts';
import { answerUpload } from './read.ts';
import { FIRST_REFUSED_SIZE, findOwnUpload, type UploadRow } from './rows.ts';

/** `POST /uploads`: reserves an object and returns the URL to upload it to. */
export async function createUpload(context: ServiceContext, call: OperationCall): Promise<ServiceResponse> {
  const checked = checkUploadRequest(call.body);
  if (!checked.ok) throw refuseFields(checked.errors);
  const request = checked.value;
  const limit = FIRST_REFUSED_SIZE[request.purpose];
  if (request.size_bytes >= limit) {
    throw new Refusal('CONTENT_TOO_LARGE', `a ${request.purpose} must be smaller than ${limit} bytes`);
  }
  const outcome = await carryOutOnce(context, call, async (tx, now) => ({
    status: 201,
    resourceId: await insertUpload(context, tx, { keyId: call.key.id, request, now }),
  }));
  return answerUpload(context, call, outcome, { Location: `${call.path}/${outcome.resourceId}` });
}

async function insertUpload(
  { makeId, storage }: ServiceContext,
  tx: Transaction,
  { keyId, request, now }: { keyId: string; request: UploadRequest; now: number },
): Promise<string> {
  const id = makeId('upload');
  await tx.run(
    `INSERT INTO uploads (id, key_id, status, purpose, file_name, content_type, size_bytes, client_reference,
       created_at, updated_at, expires_at, file)
     VALUES (?, ?, 'waiting_for_upload', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    keyId,
    request.purpose,
    request.file_name,
    request.content_type,
    request.size_bytes,
    request.client_reference ?? null,
    now,
    now,
    now + LIMITS.uploadLinkMs,
    storage.reserveFile(id),
  );
  return id;
}

/** `POST /uploads/{upload_id}/completions`: starts the validation of the uploaded bytes. */
export async function completeUpload(context: ServiceContext, call: OperationCall): Promise<ServiceResponse> {
  // spec: open — a malformed identifier is a 400, but GET and DELETE of one resource declare none: there it is a 404.
  if (!isIdOf('upload', call.resourceId)) throw refuseField('upload_id', 'is not the id of an upload');
  const found = await findOwnUpload(context.store, call.key.id, call.resourceId, call.now);
  if (found === undefined) throw refuseUnknownResource();
  const checked = checkCompletionRequest(call.body);
  if (!checked.ok) throw refuseFields(checked.errors);
  const etag = checked.value.etag.replaceAll('"', '');
  // Before the transaction, which must not wait for the storage. A completed upload has its facts on record.
  const stored = found.status === 'waiting_for_upload' ? await context.storage.findUpload(found) : null;
  const outcome = await carryOutOnce(context, call, (tx) => complete(tx, call, etag, stored));
  if (!outcome.replayed) context.signals.emit('uploadCompleted');
  return answerUpload(context, call, outcome);
}

async function complete(
  tx: Transaction,
  call: OperationCall,
  etag: string,
  stored: StoredBytes | null,
): Promise<{ status: number; resourceId: string }> {
  const row = await findOwnUpload(tx, call.key.id, call.resourceId, call.now);
  if (row === undefined) throw refuseUnknownResource();
  // In the state folder, the row is newer than what was found before.
  const known = row.etag ?? stored?.etag ?? null;
  refuseUnlessCompletable(row, etag, known, stored);
  if (row.status === 'ready') return { status: 200, resourceId: row.id };
  if (row.status === 'waiting_for_upload') {
    await tx.run(
      `UPDATE uploads SET status = 'validating', etag = ?, updated_at = ?, expires_at = ?
       WHERE id = ? AND status = 'waiting_for_upload'`,
      known,
      call.now,
      row.created_at + LIMITS.retentionMs,
      row.id,
    );
  }
  return { status: 202, resourceId: row.id };
}

function refuseUnlessCompletable(
  row: UploadRow,
  etag: string,
  known: string | null,
  stored: StoredBytes | null,
): void {
  if (row.status === 'failed' || row.status === 'expired') {
    throw new Refusal('UPLOAD_STATE_CONFLICT', `the upload is ${row.status}; create a new one`);
  }
  if (known === null) {
    throw new Refusal(
      'UPLOAD_STATE_CONFLICT',
      'the bytes have not arrived; send them to upload_request first',
    );
  }
  if (known !== etag.toLowerCase()) {
    throw new Refusal('UPLOAD_ETAG_MISMATCH', `the stored object has the ETag "${known}"`);
  }
  if (stored !== null && stored.sizeBytes !== row.size_bytes) {
    const detail = `the reservation is for ${row.size_bytes} bytes, but ${stored.sizeBytes} are stored; create a new one`;
    throw new Refusal('UPLOAD_STATE_CONFLICT', detail);
  }
}
