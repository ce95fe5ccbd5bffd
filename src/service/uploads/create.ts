import { LIMITS } from '../../protocol/limits.ts';
import type { UploadRequest } from '../../protocol/request-types.ts';
import type { OperationCall } from '../call.ts';
import type { ServiceContext } from '../context.ts';
import type { ServiceResponse } from '../http/exchange.ts';
import { Refusal, refuseFields } from '../http/refusal.ts';
import { carryOutOnce } from '../idempotency.ts';
import { answerUpload } from './read.ts';
import { FIRST_REFUSED_SIZE } from './rows.ts';

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
  const outcome = await carryOutOnce(context, call, () => ({
    status: 201,
    resourceId: insertUpload(context, call, request),
  }));
  return answerUpload(context, call, outcome, { Location: `${call.path}/${outcome.resourceId}` });
}

function insertUpload(context: ServiceContext, call: OperationCall, request: UploadRequest): string {
  const id = context.makeId('upload');
  // The time of the transaction, so that a new row is always the newest one in lists.
  const now = context.clock.now();
  context.store.run(
    `INSERT INTO uploads (id, key_id, status, purpose, file_name, content_type, size_bytes, client_reference,
       created_at, updated_at, expires_at)
     VALUES (?, ?, 'waiting_for_upload', ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    call.key.id,
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
