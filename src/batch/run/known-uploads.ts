/** Finds uploads that the service still has, by their content. Source: specification, "Limits" (7 days). */

import { isApiAnswer } from '../../base/failure.ts';
import type { Client, Upload } from '../../client/index.ts';
import { hashFile, openSourceFile } from '../../client/upload/source-file.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { UploadPurpose } from '../../protocol/states.ts';
import type { UploadRecord } from '../records/upload-record.ts';

interface LocalFile {
  readonly path: string;
  readonly bytes: number;
  readonly purpose: UploadPurpose;
}

interface KnownUpload {
  readonly upload: Upload;
  /** Lower-case hex. */
  readonly sha256: string;
}

interface KnownUploads {
  readonly record: UploadRecord;
  readonly client: Pick<Client, 'uploads'>;
}

/**
 * A ready upload of the same bytes, or null if there is none. Uploads that have expired are removed from the record. If the
 * hash is known, the file need not exist.
 * @throws Failure; the reason of the signal
 */
export async function findKnownUpload(
  { record, client }: KnownUploads,
  { path, bytes, purpose, sha256: given = null }: LocalFile & { readonly sha256?: string | null },
  signal: AbortSignal,
): Promise<KnownUpload | null> {
  // Hashing reads the whole file, so it is done only if a file of this size was uploaded before.
  if (!(await record.hasSize(bytes, purpose))) return null;
  const sha256 = given ?? (await hashInput(path, signal, purpose));
  const known = await record.find({ sha256, size: bytes, purpose });
  if (known === null) return null;
  const upload = await readReady(client, known.upload_id, signal);
  if (upload !== null) return { upload, sha256 };
  await record.remove(known.upload_id);
  return null;
}

/** Null for an upload that can no longer be used. */
async function readReady(
  client: Pick<Client, 'uploads'>,
  id: string,
  signal: AbortSignal,
): Promise<Upload | null> {
  try {
    const upload = await client.uploads.get(id, { signal });
    return upload.status === 'ready' ? upload : null;
  } catch (error) {
    if (isApiAnswer(error, 404)) return null;
    throw error;
  }
}

/** Records a ready upload. @param now milliseconds since 1970  @throws Failure */
export async function rememberUpload(
  record: UploadRecord,
  { upload, sha256 }: KnownUpload,
  { bytes, purpose }: Omit<LocalFile, 'path'>,
  now: number,
): Promise<void> {
  await record.add({
    sha256,
    size: bytes,
    upload_id: upload.id,
    purpose,
    ready_at: new Date(now).toISOString(),
    expires_at: upload.expires_at ?? new Date(now + LIMITS.retentionMs).toISOString(),
  });
}

/**
 * SHA-256 of a file, lower-case hex.
 * @param purpose of a file that will be uploaded, to check its size; null for other files
 * @throws Failure (`usage`) if the file cannot be read or changes meanwhile
 */
export async function hashInput(
  path: string,
  signal: AbortSignal,
  purpose: UploadPurpose | null = null,
): Promise<string> {
  const source = await openSourceFile(path, purpose);
  try {
    return await hashFile(source, 'sha256', signal);
  } finally {
    await source.close();
  }
}
