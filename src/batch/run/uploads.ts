/**
 * Files sent once for all their languages and, while the service keeps them, for all runs. Source: specification,
 * "Upload resource"; contract, "Uploads".
 */

import type { Upload } from '../../client/index.ts';
import type { SubtitleInput } from '../../protocol/request-types.ts';
import type { UploadPurpose } from '../../protocol/states.ts';
import type { BatchItem, ItemState, Units } from '../item.ts';
import type { FileFacts } from '../plan/input.ts';
import { fileUnits } from '../plan/items.ts';
import type { MadeFile } from '../preparation.ts';
import type { Batch } from './batch.ts';
import { findKnownUpload, rememberUpload } from './known-uploads.ts';
import { createLimiter } from './limiter.ts';
import type { Note } from './note.ts';
import type { Stopping } from './stopping.ts';

/** A file that can be sent. */
export interface Sendable extends FileFacts {
  readonly contentType: string;
  /** Of a file that was made here, by which it is told whether it was sent before; null for one of the user's. */
  readonly made: { readonly sha256: string; ensure(): Promise<MadeFile> } | null;
}

export interface Uploads {
  /** A ready upload of the file. @throws Failure, Stopped */
  provide(item: BatchItem, file: Sendable, order: number): Promise<Provided>;
  /** Forgets an upload that the service does not take any more. */
  forget(uploadId: string): Promise<void>;
}

const PURPOSE: UploadPurpose = 'source_video';

/** One alone seldom fills the line; more only make each of them late. */
const SIDE_BY_SIDE = 2;
/** Files that are under way or ready before there is a slot for them: an upload is kept for days, but a run may end. */
const AHEAD = 4;

/** A ready upload. */
interface Sent {
  readonly id: string;
  /** Lower-case hex; null when nothing has told it. */
  readonly sha256: string | null;
  /** Of the video, as the service measures it; null when it does not say. */
  readonly seconds: number | null;
}

/** A file that is being sent or was sent. */
interface Sending {
  /** Those that wait for it, and are told how far it is. */
  readonly items: BatchItem[];
  readonly ready: Promise<Sent>;
  /** Of the upload, once it is known. */
  id: string | null;
  readonly use: () => void;
}

interface UploadParts {
  readonly batch: Batch;
  readonly stopping: Stopping;
  readonly tell: (item: BatchItem, state: ItemState) => void;
  readonly note: Note;
}

export function createBatchUploads({ batch, stopping, tell, note }: UploadParts): Uploads {
  const { client, everyMs } = batch.connection;
  const { uploads: record } = batch.records;
  const files = new Map<string, Sending>();
  const lines = createLimiter(SIDE_BY_SIDE);
  const ahead = createLimiter(AHEAD);
  const signal = stopping.launching;

  function start(item: BatchItem, file: Sendable, order: number): Sending {
    const items: BatchItem[] = [item];
    const turn = ahead.enter(order, signal);
    const use = () => void turn.then((end) => end()).catch(() => undefined);
    const send = async () => {
      await turn;
      const end = await lines.enter(order, signal);
      try {
        return (await reuse(file)) ?? (await sendAnew(file, items));
      } catch (error) {
        // The next request for it starts again.
        files.delete(contentOf(file));
        use();
        throw error;
      } finally {
        end();
      }
    };
    return { items, ready: send(), id: null, use };
  }

  async function sendAnew(file: Sendable, items: readonly BatchItem[]): Promise<Sent> {
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

  async function reuse({ path, bytes, made }: Sendable): Promise<Sent | null> {
    const file = { path, bytes, purpose: PURPOSE, sha256: made?.sha256 ?? null };
    // A record that cannot be read or written only costs another upload.
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
      // By its id: another language may have sent the file again already.
      for (const [content, { id }] of files) if (id === uploadId) files.delete(content);
      await note(() => record.remove(uploadId));
    },
  };
}

/** Tells files apart: one that has changed since is another. */
export function contentOf({ path, bytes, mtimeMs }: FileFacts): string {
  return JSON.stringify([path, bytes, mtimeMs]);
}

function describe(upload: Upload, sha256: string | null): Sent {
  return { id: upload.id, sha256, seconds: upload.media?.duration_seconds ?? null };
}

/** What a job is made from. */
export interface Provided {
  readonly source: SubtitleInput;
  /** SHA-256 of the input, lower-case hex; null for what is only named. */
  readonly sha256: string | null;
  /** Null when nobody can say. */
  readonly units: Units | null;
  /** A job was sent, or none will be: the next file may be uploaded. */
  readonly use: () => void;
}
