/** Handlers that reserve an upload and complete it. */
import { LIMITS } from '../../protocol/limits.ts';
import type { UploadRequest } from '../../protocol/request-types.ts';
import type { OperationCall, ServiceContext } from '../context.ts';
import type { ServiceResponse } from '../http/exchange.ts';
import { Refusal, refuseFields, refuseUnknownResource } from '../http/refusal.ts';
import { carryOutOnce } from '../idempotency.ts';
import type { Transaction } from '../store/store.ts';
import { answerUpload } from './read.ts';
import { FIRST_REFUSED_SIZE, findOwnUpload, type UploadRow } from './rows.ts';

/** `POST /uploads`: reserves an object and returns the URL to upload it to. */
export async function createUpload(context: ServiceContext, call: OperationCall): Promise<ServiceResponse> {
  // Validators take longer to load than the rest of the service, and most commands never send a POST.
  const { checkUploadRequest } = await import('../../protocol/requests.ts');
  const checked = checkUploadRequest(call.body);
  if (!checked.ok) throw refuseFields(checked.errors);
  const request = checked.value;
  const limit = FIRST_REFUSED_SIZE[request.purpose];
  if (request.size_bytes >= limit) {
    throw new Refusal('CONTENT_TOO_LARGE', `a ${request.purpose} must be smaller than ${limit} bytes`);
  }
  const outcome = await carryOutOnce(context, call, async (tx, now) => ({
    status: 201,
    resourceId: await insertUpload(tx, { id: context.makeId('upload'), keyId: call.key.id, request, now }),
  }));
  return answerUpload(context, call, outcome, { Location: `${call.path}/${outcome.resourceId}` });
}

async function insertUpload(
  tx: Transaction,
  { id, keyId, request, now }: { id: string; keyId: string; request: UploadRequest; now: number },
): Promise<string> {
  await tx.run(
    `INSERT INTO uploads (id, key_id, status, purpose, file_name, content_type, size_bytes, client_reference,
       created_at, updated_at, expires_at)
     VALUES (?, ?, 'waiting_for_upload', ?, ?, ?, ?, ?, ?, ?, ?)`,
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
  );
  return id;
}

/** `POST /uploads/{upload_id}/completions`: starts the validation of the uploaded bytes. */
export async function completeUpload(context: ServiceContext, call: OperationCall): Promise<ServiceResponse> {
  const { checkCompletionRequest } = await import('../../protocol/requests.ts');
  const found = await findOwnUpload(context.store, call.key.id, call.resourceId, call.now);
  if (found === undefined) throw refuseUnknownResource();
  const checked = checkCompletionRequest(call.body);
  if (!checked.ok) throw refuseFields(checked.errors);
  const etag = checked.value.etag.replaceAll('"', '');
  const outcome = await carryOutOnce(context, call, (tx) => complete(tx, call, etag));
  if (!outcome.replayed) context.signals.emit('uploadCompleted');
  return answerUpload(context, call, outcome);
}

async function complete(
  tx: Transaction,
  call: OperationCall,
  etag: string,
): Promise<{ status: number; resourceId: string }> {
  const row = await findOwnUpload(tx, call.key.id, call.resourceId, call.now);
  if (row === undefined) throw refuseUnknownResource();
  refuseUnlessCompletable(row, etag);
  if (row.status === 'ready') return { status: 200, resourceId: row.id };
  if (row.status === 'waiting_for_upload') {
    await tx.run(
      `UPDATE uploads SET status = 'validating', updated_at = ?, expires_at = ?
       WHERE id = ? AND status = 'waiting_for_upload'`,
      call.now,
      row.created_at + LIMITS.retentionMs,
      row.id,
    );
  }
  return { status: 202, resourceId: row.id };
}

function refuseUnlessCompletable(row: UploadRow, etag: string): void {
  if (row.status === 'failed' || row.status === 'expired') {
    throw new Refusal('UPLOAD_STATE_CONFLICT', `the upload is ${row.status}; make a new one`);
  }
  if (row.etag === null) {
    throw new Refusal(
      'UPLOAD_STATE_CONFLICT',
      'the bytes have not arrived; send them to upload_request first',
    );
  }
  if (row.etag !== etag.toLowerCase()) {
    throw new Refusal('UPLOAD_ETAG_MISMATCH', `the stored object has the ETag "${row.etag}"`);
  }
}
