/** Specification: "Endpoints". The rows of the operation table are generated from the suite's own copy of it. */
import { OPERATIONS, type OperationId } from '../operations.ts';
import type { Sentence, Sentences } from './sentence.ts';

export const ENDPOINT_SENTENCES = {
  'endpoint.signed': 'every request is signed',
  'endpoint.json': 'bodies are `application/json`',
  'header.idempotency-key': 'Idempotency-Key: required on POST and DELETE, `^[A-Za-z0-9._:-]+$`, 1 to 255',
  'header.idempotency-intent': 'one Idempotency-Key for one business intent and all its retries',
  'header.client-request-id': 'X-Client-Request-ID: optional, 1 to 128 characters, not on credits and lists',
  'header.client-request-id-traces': 'X-Client-Request-ID is for tracing only, no idempotency guarantee',
  'header.request-id': 'X-Request-ID on POST, GET single and DELETE, `^req_[A-Za-z0-9_-]+$`',
  'header.replayed':
    'Idempotency-Replayed on POST and DELETE: `true` for a resource made by an earlier request',
  'header.location':
    'Location on createUpload and the create operations: relative address of the new resource',
  'header.no-store': 'Cache-Control on credits and lists: `no-store`',
  'parameter.limit': '`limit`: 1 to 50, default 20',
  'parameter.cursor': '`cursor`: at most 1024 characters, the previous `next_cursor` with identical filters',
  'parameter.cursor-opaque': 'a cursor is not to be modified or used across keys',
  'parameter.created-after': '`created_after`: inclusive, with a time zone, earlier than `created_before`',
  'parameter.created-before': '`created_before`: exclusive, with a time zone',
  'parameter.status': '`status`: one of the statuses of the resource',
  'parameter.purpose': '`purpose`: uploads only',
  'parameter.client-reference': '`client_reference`: job lists only, 1 to 128 characters',
  'parameter.invalid': 'unknown, repeated or invalid query parameters return 400',
  'list.newest-first': 'job and upload lists are ordered by creation time, newest first',
  'list.transactions-by-posting': 'the transaction list is ordered by posting time, newest first',
  'list.live': 'lists are live queries, not snapshots of state',
  'path.ids': 'path parameters are strings that name the resource id',
  'behavior.reservation': 'POST /uploads returns the upload with a direct-upload address',
  'behavior.direct-upload': 'the client uploads exactly as instructed, then must call completions',
  'behavior.reservation-not-usable': 'creating the reservation does not make the material usable',
  'behavior.completion':
    'completions submits the ETag and starts validation; 200 when validated already, else 202',
  'behavior.completion-no-job': 'completions creates no business job',
  'behavior.get-upload': 'GET /uploads/{upload_id} returns the upload and its preparation state',
  'behavior.create': 'a create operation takes one input and returns the new job with 202',
  'behavior.inputs': 'inputs: a public HTTPS address readable without login, or a ready upload',
  'behavior.unusable-inputs': 'local paths, internal-network and login-dependent addresses are not usable',
  'behavior.get-job': 'GET single returns status, progress and, on success, the result',
  'behavior.cancel': 'DELETE cancels only a queued or processing job, returns 202, never deletes the record',
  'behavior.cancel-localization': 'states in which an auto localization can be cancelled: not shown',
  'shape.localization':
    'fields of the auto localization request; values, required ones and defaults: not shown',
  'shape.other-requests': 'request fields of the other create operations: not shown',
  'shape.upload-requests': 'fields of the reservation and of the completion: not shown',
  'shape.responses': 'responses: the upload, the job, the list envelope, the balance',
} as const satisfies Sentences;

export type OperationSentenceId = `operation.${OperationId}`;

export const OPERATION_SENTENCES: Readonly<Record<string, Sentence>> = Object.fromEntries(
  OPERATIONS.map(({ id, method, path, success, errors }) => [
    `operation.${id}`,
    `${id}: ${method} ${path} returns ${success.join(' or ')}; errors ${errors.join(', ')}`,
  ]),
);
