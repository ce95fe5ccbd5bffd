import { LIMITS } from '../../protocol/limits.ts';
import type { OperationCall } from '../call.ts';
import type { ServiceContext } from '../context.ts';
import type { ServiceResponse } from '../http/exchange.ts';
import { Refusal, refuseFields, refuseUnknownResource } from '../http/refusal.ts';
import { carryOutOnce } from '../idempotency.ts';
import { answerUpload } from './read.ts';
import { findOwnUpload, type UploadRow } from './rows.ts';

/** `POST /uploads/{upload_id}/completions`: starts the validation of the uploaded bytes. */
export async function completeUpload(context: ServiceContext, call: OperationCall): Promise<ServiceResponse> {
  const { checkCompletionRequest } = await import('../../protocol/requests.ts');
  if (findOwnUpload(context, call.key.id, call.resourceId, call.now) === undefined) {
    throw refuseUnknownResource();
  }
  const checked = checkCompletionRequest(call.body);
  if (!checked.ok) throw refuseFields(checked.errors);
  const etag = checked.value.etag.replaceAll('"', '');
  const outcome = await carryOutOnce(context, call, () => complete(context, call, etag));
  if (!outcome.replayed) context.signals.emit('uploadCompleted');
  return answerUpload(context, call, outcome);
}

function complete(
  context: ServiceContext,
  call: OperationCall,
  etag: string,
): { status: number; resourceId: string } {
  const row = findOwnUpload(context, call.key.id, call.resourceId, call.now);
  if (row === undefined) throw refuseUnknownResource();
  refuseUnlessCompletable(row, etag);
  if (row.status === 'ready') return { status: 200, resourceId: row.id };
  if (row.status === 'waiting_for_upload') {
    context.store.run(
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
