/** Rows of uploads in the store. */
import { LIMITS } from '../../protocol/limits.ts';
import type { UploadPurpose, UploadStatus } from '../../protocol/states.ts';
import type { Statements } from '../store/store.ts';

export interface UploadRow {
  readonly id: string;
  readonly key_id: string;
  readonly status: UploadStatus;
  readonly purpose: UploadPurpose;
  readonly file_name: string;
  readonly content_type: string;
  readonly size_bytes: number;
  readonly client_reference: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly expires_at: number;
  /** Name in the storage; null after the bytes are removed, and in the state folder also before they arrive. */
  readonly file: string | null;
  /** MD5 in hex, without quotes; null before the bytes arrive. */
  readonly etag: string | null;
  /** SHA-256 of the bytes; null until this service has read them. */
  readonly sha256: string | null;
  /** JSON of `Media`. */
  readonly media: string | null;
  /** JSON of `SubtitleFacts`. */
  readonly subtitle: string | null;
  /** JSON of `{code, message}`. */
  readonly error: string | null;
}

/** Facts about a subtitle file, found by validation. */
export interface SubtitleFacts {
  readonly lines: number;
  readonly duration_seconds: number;
  /** Unicode code points of all texts. A dub is metered by them. */
  readonly characters: number;
}

export const UPLOAD_COLUMNS = `id, key_id, status, purpose, file_name, content_type, size_bytes, client_reference,
  created_at, updated_at, expires_at, file, etag, sha256, media, subtitle, error`;

/** Uploads that have expired and are not marked yet; the parameter is now. */
export const DUE_UPLOADS = `status IN ('waiting_for_upload', 'ready') AND expires_at <= ?`;

/** Marks due uploads as `expired`, so that every read returns their current state. */
export async function expireUploads(store: Statements, now: number): Promise<void> {
  const first = await store.get(`SELECT id FROM uploads WHERE ${DUE_UPLOADS} LIMIT 1`, now);
  // A read needs no lock, and usually nothing is due.
  if (first === undefined) return;
  await store.run(`UPDATE uploads SET status = 'expired', updated_at = expires_at WHERE ${DUE_UPLOADS}`, now);
}

/** Returns the upload of that id in its current state, of any key; undefined after its retention. */
export async function findUpload(store: Statements, id: string, now: number): Promise<UploadRow | undefined> {
  await expireUploads(store, now);
  return store.get<UploadRow>(
    `SELECT ${UPLOAD_COLUMNS} FROM uploads WHERE id = ? AND created_at > ?`,
    id,
    now - LIMITS.retentionMs,
  );
}

/** Returns the upload of that id if it belongs to the key. */
export async function findOwnUpload(
  store: Statements,
  keyId: string,
  id: string,
  now: number,
): Promise<UploadRow | undefined> {
  const row = await findUpload(store, id, now);
  return row?.key_id === keyId ? row : undefined;
}

/** Files of this many bytes or more are refused, by purpose. Source: specification, "Limits". */
export const FIRST_REFUSED_SIZE: Readonly<Record<UploadPurpose, number>> = {
  source_video: LIMITS.videoBytes,
  subtitle_file: LIMITS.subtitleBytes,
};
