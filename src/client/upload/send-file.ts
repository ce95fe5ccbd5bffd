/** A local file becomes a ready upload. Source: contract, "Uploads"; design, "Transport". */
import { basename } from 'node:path';
import { Failure, refusedFailure, timeoutFailure } from '../../base/failure.ts';
import type { UploadPurpose } from '../../protocol/states.ts';
import { growingPause, pollUntilDone } from '../jobs/poll.ts';
import { missingFieldFailure, requestIdOf } from '../read/record.ts';
import type { Upload } from '../read/resources.ts';
import type { ClientContext } from '../transport/context.ts';
import { putFile, reservationExpiredFailure } from './put.ts';
import { hashFile, openSourceFile, type SourceFile } from './source-file.ts';
import type { UploadOperations } from './uploads.ts';

/** The bytes that were passed to the network so far, and the size of the file. */
export interface UploadProgress {
  readonly stage: 'reserving' | 'sending' | 'completing' | 'validating' | 'ready';
  readonly bytes: number;
  readonly total: number;
  /** Null until it is reserved; another one after an expired reservation was replaced. */
  readonly uploadId: string | null;
}

export interface SendFileOptions {
  readonly purpose: UploadPurpose;
  readonly contentType: string;
  /** Default: the last part of the path. */
  readonly fileName?: string | undefined;
  readonly clientReference?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Fixed interval between polls: for a service on this machine, where polling costs nothing. */
  readonly everyMs?: number | undefined;
  /** False returns as soon as the bytes are there, without waiting for their validation. */
  readonly wait?: boolean | undefined;
  /** False omits the SHA-256 of the bytes, which takes as much CPU time as sending them. */
  readonly hash?: boolean | undefined;
  /** Key of the reservation; with the same one an interrupted upload is continued where it can be. */
  readonly idempotencyKey?: string | undefined;
}

export interface SentFile {
  readonly upload: Upload;
  /** SHA-256 of the bytes sent, lower-case hex; null when `hash` is false. */
  readonly sha256: string | null;
}

/** The reservation is refused or unusable; a new one, with a new key, may help. */
const REPLACEABLE = new Set([
  'UPLOAD_LAPSED',
  'UPLOAD_BLOCKED',
  'UPLOAD_STATE_CONFLICT',
  'UPLOAD_ETAG_MISMATCH',
]);

/**
 * Reserve, PUT, complete, wait until ready.
 * @throws Failure: `usage` when the file cannot be sent or changes meanwhile, `refused` when it is not accepted
 */
export async function sendFile(
  context: ClientContext,
  uploads: UploadOperations,
  path: string,
  options: SendFileOptions,
): Promise<SentFile> {
  const source = await openSourceFile(path, options.purpose);
  const freshKey = () => context.runtime.idempotencyKey();
  const task = { context, uploads, source, options };
  try {
    return await reserveAndSend(task, options.idempotencyKey ?? freshKey());
  } catch (error) {
    if (!(error instanceof Failure) || !REPLACEABLE.has(error.facts.code)) throw error;
    const message = `${error.message}; the file is sent again under a new reservation`;
    context.emit({ type: 'notice', code: 'UPLOAD_REPLACED', message });
    return await reserveAndSend(task, freshKey());
  } finally {
    await source.close();
  }
}

interface Task {
  readonly context: ClientContext;
  readonly uploads: UploadOperations;
  readonly source: SourceFile;
  readonly options: SendFileOptions;
}

async function reserveAndSend(task: Task, idempotencyKey: string): Promise<SentFile> {
  const { uploads, source, options } = task;
  const { signal } = options;
  report(task, 'reserving', null, 0);
  const reserved = await uploads.create(
    {
      purpose: options.purpose,
      file_name: options.fileName ?? basename(source.path),
      content_type: options.contentType,
      size_bytes: source.size,
      ...(options.clientReference === undefined ? {} : { client_reference: options.clientReference }),
    },
    { idempotencyKey, signal },
  );
  // An earlier run with the same key may already have sent the bytes.
  const continued = reserved.status !== 'waiting_for_upload';
  const sent = continued
    ? { upload: reserved, sha256: wantsHash(options) ? await hashFile(source, 'sha256', signal) : null }
    : await sendBytes(task, reserved);
  if (options.wait === false && sent.upload.status !== 'expired') return sent;
  const upload = await waitUntilReady(task, sent.upload);
  report(task, 'ready', upload.id, source.size);
  return { upload, sha256: sent.sha256 };
}

function wantsHash({ hash = true }: SendFileOptions): boolean {
  return hash;
}

async function sendBytes(task: Task, reserved: Upload): Promise<SentFile> {
  const { context, uploads, source, options } = task;
  const { id, upload_request: target } = reserved;
  if (target === null)
    throw missingFieldFailure({ subject: 'the upload', requestId: requestIdOf(reserved) }, 'upload_request');
  report(task, 'sending', id, 0);
  const onSent = (bytes: number) => report(task, 'sending', id, bytes);
  const stored = await putFile(context, target, source, {
    signal: options.signal,
    onSent,
    hash: wantsHash(options),
  });
  report(task, 'completing', id, source.size);
  const upload = await uploads.complete(id, stored.etag, { signal: options.signal });
  return { upload, sha256: stored.sha256 };
}

/** Far beyond what decoding fifteen minutes of video takes. */
const VALIDATION_TIMEOUT_MS = 30 * 60_000;

function isSettled({ status }: Upload): boolean {
  return status !== 'validating' && status !== 'waiting_for_upload';
}

async function waitUntilReady(task: Task, sent: Upload): Promise<Upload> {
  const upload = isSettled(sent) ? sent : await pollUpload(task, sent.id);
  if (upload.status === 'ready') return upload;
  throw upload.status === 'expired'
    ? reservationExpiredFailure('it has expired')
    : notAcceptedFailure(upload);
}

function pollUpload(task: Task, id: string): Promise<Upload> {
  const { context, uploads, source, options } = task;
  report(task, 'validating', id, source.size);
  return pollUntilDone(context, {
    read: (limits) => uploads.get(id, limits),
    isDone: isSettled,
    delayAfter: (_upload, elapsedMs) => task.options.everyMs ?? growingPause(elapsedMs),
    timeOver: () => stillValidatingFailure(id),
    signal: options.signal,
    timeoutMs: VALIDATION_TIMEOUT_MS,
  });
}

function report(task: Task, stage: UploadProgress['stage'], uploadId: string | null, bytes: number): void {
  task.options.onProgress?.({ stage, bytes, total: task.source.size, uploadId });
}

function notAcceptedFailure(upload: Upload): Failure {
  const requestId = requestIdOf(upload);
  return refusedFailure(
    upload.error?.code ?? 'UPLOAD_FAILED',
    `the service refused the file: ${upload.error?.message ?? 'no reason given'}`,
    'Correct the file, then run the same command again.',
    { retryable: false, ...(requestId === null ? {} : { requestId }) },
  );
}

function stillValidatingFailure(id: string): Failure {
  return timeoutFailure(
    'STILL_VALIDATING',
    `the upload ${id} is still being validated after half an hour`,
    `Check it later: \`vloc upload get ${id}\``,
    { retryable: true },
  );
}
