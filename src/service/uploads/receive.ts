/** Streams the bytes of an upload to disk. Source: contract, "Uploads" (direct-upload address). */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../base/sync.ts';
import type { ServiceContext } from '../context.ts';
import { FILE_MODE } from '../folders.ts';
import { CallerGone, isPlain } from '../http/body.ts';
import type { Exchange, ServiceResponse } from '../http/exchange.ts';
import { refuseLink, uploadPermission } from '../storage/links.ts';
import { watchFlow } from '../time-limits.ts';
import { findUpload, type UploadRow } from './rows.ts';

/** 1 MiB at a time: one write for sixteen chunks of the socket, with little memory. */
const BATCH_BYTES = 1024 ** 2;

interface Received {
  readonly size: number;
  /** MD5 in hex. */
  readonly etag: string;
  readonly sha256: string;
}

/** Answers requests to a direct-upload URL. Accepts only the PUT that it was signed for. */
export async function receiveObject(
  context: ServiceContext,
  exchange: Exchange,
  uploadId: string,
  query: ReadonlyMap<string, string>,
): Promise<ServiceResponse> {
  const now = exchange.receivedAt;
  const row = await findUpload(context.store, uploadId, now);
  const refuse = (detail: string) => refuseLink('LINK_NOT_VALID', detail, exchange);
  // A service with other storage returns no such addresses.
  const isHere = context.storage.sharesFolder && row !== undefined;
  const permitted = isHere && context.links.verify(uploadPermission(row), query);
  if (!permitted || exchange.request.method !== 'PUT') {
    return refuse('the address is not valid for this upload, or was changed');
  }
  const encoding = exchange.request.headers['content-encoding'];
  if (!isPlain(encoding)) {
    const detail = 'the file must be sent without a Content-Encoding; nothing is unpacked';
    return refuseLink('CONTENT_ENCODED', detail, exchange);
  }
  const complaint = complain(row, exchange);
  if (complaint !== null) return refuse(complaint);

  const file = randomUUID();
  const path = join(context.folders.uploads, file);
  try {
    const received = await store(context, exchange, path, row.size_bytes);
    if (received?.size !== row.size_bytes) {
      await rm(path, { force: true });
      return refuse(
        `the reservation is for ${row.size_bytes} bytes, but ${received === null ? 'more' : 'fewer'} were sent`,
      );
    }
    await syncFolder(context.folders.uploads);
    if (!(await keep(context, row.id, file, received))) {
      return refuse('the upload was completed or expired meanwhile');
    }
    return { status: 200, headers: { ETag: `"${received.etag}"` }, body: '' };
  } catch (error) {
    if (!(await isRecorded(context, file))) await rm(path, { force: true });
    throw error;
  }
}

/** A transaction may fail after it was written. If that cannot be checked, the sweep removes orphaned files. */
async function isRecorded({ store }: ServiceContext, file: string): Promise<boolean> {
  try {
    return (await store.get('SELECT 1 FROM uploads WHERE file = ?', file)) !== undefined;
  } catch {
    return true;
  }
}

function complain(row: UploadRow, { request }: Exchange): string | null {
  if (row.status !== 'waiting_for_upload') return `the upload is ${row.status} and accepts no more bytes`;
  if (request.headers['content-type'] !== row.content_type) {
    return `the reservation is for the content type ${row.content_type}`;
  }
  const length = request.headers['content-length'];
  if (length !== undefined && Number(length) !== row.size_bytes) {
    return `the reservation is for ${row.size_bytes} bytes, but Content-Length is ${length}`;
  }
  return null;
}

/** Writes and hashes the body. Returns null if it has too many bytes. */
async function store(
  context: ServiceContext,
  { request, response }: Exchange,
  path: string,
  sizeBytes: number,
): Promise<Received | null> {
  const handle = await open(path, 'wx', FILE_MODE);
  const { socket } = request;
  // Bytes that arrived with the head of the request count for the first window.
  const begun = socket.bytesRead - request.readableLength;
  const stopWatching = watchFlow(request, () => socket.bytesRead - begun, context.clock);
  try {
    if (request.headers.expect !== undefined) response.writeContinue();
    const received = await writeBody(request.iterator({ destroyOnReturn: false }), handle, sizeBytes);
    await handle.sync();
    return received;
  } catch (error) {
    throw request.destroyed ? new CallerGone('the body is incomplete', { cause: error }) : error;
  } finally {
    stopWatching();
    await handle.close();
  }
}

async function writeBody(
  chunks: AsyncIterable<Buffer>,
  handle: FileHandle,
  sizeBytes: number,
): Promise<Received | null> {
  const md5 = createHash('md5');
  const sha256 = createHash('sha256');
  let size = 0;
  let batch: Buffer[] = [];
  let batched = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > sizeBytes) return null;
    md5.update(chunk);
    sha256.update(chunk);
    batch.push(chunk);
    batched += chunk.length;
    if (batched >= BATCH_BYTES) {
      await handle.writev(batch);
      batch = [];
      batched = 0;
    }
  }
  await handle.writev(batch);
  return { size, etag: md5.digest('hex'), sha256: sha256.digest('hex') };
}

/** Replaces the object of the upload with the file. Returns false if the upload accepts no more bytes. */
async function keep(context: ServiceContext, id: string, file: string, received: Received): Promise<boolean> {
  const now = context.clock.now();
  const { kept, obsolete } = await context.store.transaction(async (tx) => {
    const row = await findUpload(tx, id, now);
    if (row?.status !== 'waiting_for_upload') return { kept: false, obsolete: file };
    await tx.run(
      'UPDATE uploads SET file = ?, etag = ?, sha256 = ?, updated_at = ? WHERE id = ?',
      file,
      received.etag,
      received.sha256,
      now,
      id,
    );
    return { kept: true, obsolete: row.file };
  });
  if (obsolete !== null) await rm(join(context.folders.uploads, obsolete), { force: true });
  return kept;
}
