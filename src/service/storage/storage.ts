/** Storage of the bytes of uploads and results: in the state folder, or in a bucket of S3. */

/** The storage cannot be used now. The caller tries again later; it is not the fault of the job, so no attempt counts. */
export class StorageAway extends Error {
  override readonly name: string = 'StorageAway';
}

/** The disk of this worker lacks room for the job. Another worker may have it, and this one later. */
export class NoRoom extends StorageAway {
  override readonly name = 'NoRoom';
  /** Whether the job alone is too large for the disk, which has room for others: then the attempt counts. */
  readonly isOfJob: boolean;

  constructor(message: string, { isOfJob = false, cause }: { isOfJob?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.isOfJob = isOfJob;
  }
}

/** The address that takes the bytes of an upload. */
interface StorageTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The stored bytes of an upload. */
export interface StoredBytes {
  readonly sizeBytes: number;
  /** Without quotes. The MD5 in hex, or what an encrypting storage returns instead. */
  readonly etag: string;
}

/** The part of an upload's row that a storage needs until its bytes have arrived. */
export interface ReservedUpload {
  readonly id: string;
  readonly content_type: string;
  readonly size_bytes: number;
  /** ms since 1970. */
  readonly expires_at: number;
  /** Null until the bytes have arrived, and for a storage elsewhere until they are completed. */
  readonly etag: string | null;
}

/** The part of an upload's row that names its bytes. */
export interface UploadFile extends Pick<ReservedUpload, 'size_bytes' | 'etag'> {
  readonly file: string;
  readonly sha256: string | null;
}

/** A file of a result that is to be stored. */
export interface ProducedFile {
  readonly path: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** A file of a result that a caller may download. */
interface ResultLink {
  readonly jobId: string;
  /** Name of the asset. */
  readonly name: string;
  readonly folder: string;
  readonly contentType: string;
  /** Name under which it is saved. */
  readonly fileName: string;
  /** ms since 1970. */
  readonly expiresAt: number;
}

/** Something that is stored, with or without a record. */
export interface StoredEntry {
  /** The file of an upload, or the folder of an attempt. */
  readonly name: string;
  /** ms since 1970; null: it is gone. */
  modifiedAt(): Promise<number | null>;
}

/** Work that can be stopped. */
interface Stoppable {
  readonly signal: AbortSignal;
}

export interface ServiceStorage {
  /** Whether processes with this storage have a state folder in common. Else each one cleans its own. */
  readonly sharesFolder: boolean;
  /** How often to look for what has no record. */
  readonly sweepEveryMs: number;

  /** Returns the name under which an upload will be stored; null if it gets one when its bytes arrive. */
  reserveFile(uploadId: string): string | null;
  uploadTarget(upload: ReservedUpload): Promise<StorageTarget>;
  /** Returns what has arrived for an upload; null for nothing. */
  findUpload(upload: ReservedUpload): Promise<StoredBytes | null>;
  /** Returns the path of an upload that is on this machine anyway, else null. */
  pathOf(file: string): string | null;
  /**
   * Returns the path of a local file with the bytes of an upload.
   * @param work `folder` takes the file unless it is on this machine anyway
   * @throws JobFailure STORAGE_ERROR if the bytes are gone or changed; StorageAway
   */
  fetchUpload(upload: UploadFile, work: Stoppable & { readonly folder: string }): Promise<string>;
  removeUpload(file: string): Promise<void>;

  /**
   * Stores the files of a result, so that they survive a crash.
   * @param folder name of the attempt
   * @throws StorageAway after many tries
   */
  storeResult(folder: string, files: Readonly<Record<string, ProducedFile>>, work: Stoppable): Promise<void>;
  resultUrl(link: ResultLink): Promise<string>;
  removeResult(folder: string): Promise<void>;
  /** Removes what earlier attempts at a job stored. */
  removeResultsOf(jobId: string): Promise<void>;

  listUploads(): AsyncIterable<StoredEntry>;
  listResults(): AsyncIterable<StoredEntry>;

  /** @throws StorageAway if it cannot be used now */
  check(): Promise<void>;
  close(): void;
}
