/**
 * Uploads files once for all their languages and, while the service keeps them, for all runs. Source: specification, "Upload
 * resource"; contract, "Uploads".
 */

import PQueue from 'p-queue';
import { takeTurn } from '../../base/together.ts';
import type { Upload } from '../../client/index.ts';
import type { SubtitleInput } from '../../protocol/request-types.ts';
import type { UploadPurpose } from '../../protocol/states.ts';
import type { Units } from '../bill.ts';
import type { FileFacts, FileInput } from '../input.ts';
import { fileUnits } from '../inputs/items.ts';
import type { BatchItem, ItemState } from '../item.ts';
import type { Batch } from './batch.ts';
import { findKnownUpload, rememberUpload } from './known-uploads.ts';
import type { TryRecord } from './run.ts';
import type { Stopping } from './stopping.ts';

/** A file to upload. */
interface UploadableFile extends FileFacts {
  readonly contentType: string;
  /** Set for a prepared file: its hash tells whether it was uploaded before. Null for a file of the user. */
  readonly made: Pick<NonNullable<FileInput['made']>, 'sha256' | 'ensure'> | null;
}

export interface UploadProvider {
  /** A ready upload of the file. @throws Failure, Stopped */
  provide(item: BatchItem, file: UploadableFile, order: number): Promise<ProvidedSource>;
  /** Removes an upload that the service no longer accepts. */
  forget(uploadId: string): Promise<void>;
}

const PURPOSE: UploadPurpose = 'source_video';

/** Uploads at a time: one rarely uses the whole bandwidth, and more of them delay each other. */
const SIDE_BY_SIDE = 2;
/** Files uploaded before there is a slot for them: few, since the run may end before it needs them. */
const AHEAD = 4;

/** A ready upload. */
interface Sent {
  readonly id: string;
  /** Lower-case hex; null if unknown. */
  readonly sha256: string | null;
  /** Duration of the video as measured by the service; null if it does not state it. */
  readonly seconds: number | null;
}

/** A file that is being uploaded, or was. */
interface Sending {
  /** Items that wait for it; its progress is reported for them. */
  readonly items: BatchItem[];
  readonly ready: Promise<Sent>;
  /** Id of the upload, once known. */
  id: string | null;
  readonly use: () => void;
}

interface UploadParts {
  readonly batch: Batch;
  readonly stopping: Stopping;
  readonly tell: (item: BatchItem, state: ItemState) => void;
  readonly note: TryRecord;
}

export function createBatchUploads({ batch, stopping, tell, note }: UploadParts): UploadProvider {
  const { client, everyMs } = batch.connection;
  const { uploads: record } = batch.records;
  const files = new Map<string, Sending>();
  const lines = new PQueue({ concurrency: SIDE_BY_SIDE });
  const ahead = new PQueue({ concurrency: AHEAD });
  const signal = stopping.launching;

  function start(item: BatchItem, file: UploadableFile, order: number): Sending {
    const items: BatchItem[] = [item];
    const turn = takeTurn(ahead, signal, order);
    const use = () => void turn.then((end) => end()).catch(() => undefined);
    const send = async () => {
      await turn;
      const end = await takeTurn(lines, signal, order);
      try {
        return (await reuse(file)) ?? (await sendAnew(file, items));
      } catch (error) {
        // The next call starts again.
        files.delete(contentOf(file));
        use();
        throw error;
      } finally {
        end();
      }
    };
    return { items, ready: send(), id: null, use };
  }

  async function sendAnew(file: UploadableFile, items: readonly BatchItem[]): Promise<Sent> {
    for (const { kind } of items) await client.jobs.requirePermission(kind, { signal });
    const { path, bytes: size } = (await file.made?.ensure()) ?? file;
    const sent = await client.uploads.sendFile(path, {
      purpose: PURPOSE,
      contentType: file.contentType === '' ? 'application/octet-stream' : file.contentType,
      signal,
      hash: true,
      ...(everyMs === null ? {} : { everyMs }),
      onProgress: ({ stage, bytes, total }) => {
        const isSending = stage === 'reserving' || stage === 'sending';
        const state: ItemState = isSending ? { phase: 'uploading', bytes, total } : { phase: 'validating' };
        for (const each of items) tell(each, state);
      },
    });
    const { upload, sha256 } = sent;
    const [item] = items;
    if (item !== undefined) {
      batch.listen({ type: 'uploaded', item, uploadId: upload.id, bytes: size });
    }
    if (sha256 !== null) {
      const file = { bytes: size, purpose: PURPOSE };
      await note(() => rememberUpload(record, { upload, sha256 }, file, batch.runtime.now()));
    }
    return describe(upload, sha256);
  }

  async function reuse({ path, bytes, made }: UploadableFile): Promise<Sent | null> {
    const file = { path, bytes, purpose: PURPOSE, sha256: made?.sha256 ?? null };
    // If the record cannot be used, the file is uploaded again.
    const known = await note(() => findKnownUpload({ record, client }, file, signal));
    return known == null ? null : describe(known.upload, known.sha256);
  }

  return {
    async provide(item, file, order) {
      const known = files.get(contentOf(file));
      const sending = known ?? start(item, file, order);
      if (known === undefined) files.set(contentOf(file), sending);
      else sending.items.push(item);
      const { id, sha256, seconds } = await sending.ready;
      sending.id = id;
      const units = item.units ?? fileUnits(item.kind, seconds);
      return { source: { type: 'upload', upload_id: id }, sha256, units, use: sending.use };
    },
    async forget(uploadId) {
      // By id, since another language may already have uploaded the file again.
      for (const [content, { id }] of files) if (id === uploadId) files.delete(content);
      await note(() => record.remove(uploadId));
    },
  };
}

/** Identifies a file; a changed file is another one. */
export function contentOf({ path, bytes, mtimeMs }: FileFacts): string {
  return JSON.stringify([path, bytes, mtimeMs]);
}

function describe(upload: Upload, sha256: string | null): Sent {
  return { id: upload.id, sha256, seconds: upload.media?.duration_seconds ?? null };
}

/** The source of a job. */
export interface ProvidedSource {
  readonly source: SubtitleInput;
  /** SHA-256 of the input, lower-case hex; null for an input without content on this machine. */
  readonly sha256: string | null;
  /** Null if unknown. */
  readonly units: Units | null;
  /** Called when the job was sent, or will not be: the next file may be uploaded. */
  readonly use: () => void;
}
