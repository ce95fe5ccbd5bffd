/** A local file to send: opened once, so that the file that was checked is the one that is read, hashed and sent. */

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type Failure, usageFailure } from '../../base/failure.ts';
import { errorCode } from '../../base/system-error.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { UploadPurpose } from '../../protocol/states.ts';

export interface SourceFile {
  readonly path: string;
  readonly size: number;
  /** Fills the buffer from that position; returns the number of bytes read, 0 at the end. */
  read(buffer: Buffer, position: number): Promise<number>;
  /** @throws Failure (`usage`, FILE_CHANGED) when the file was written to since it was opened */
  assertUnchanged(): Promise<void>;
  close(): Promise<void>;
}

const SIZE_LIMIT: Readonly<Record<UploadPurpose, number>> = {
  source_video: LIMITS.videoBytes,
  subtitle_file: LIMITS.subtitleBytes,
};

function unusableSourceFailure(code: string, message: string, advice: string, cause?: unknown): Failure {
  return usageFailure(code, message, advice, {}, cause === undefined ? {} : { cause });
}

/** The failure of a file that changed since the upload began. */
function fileChangedFailure(path: string): Failure {
  return unusableSourceFailure(
    'FILE_CHANGED',
    `${path} changed while it was sent`,
    'Wait until it is completely written, then try again.',
  );
}

/**
 * Opens a file to be sent.
 * @param purpose null for a file that is only read here: its size is not limited
 * @throws Failure (`usage`) when it cannot be read, is not a regular file, is empty, or over the limit of its purpose
 */
export async function openSourceFile(path: string, purpose: UploadPurpose | null): Promise<SourceFile> {
  const handle = await openForReading(path);
  try {
    const begun = await handle.stat({ bigint: true });
    if (!begun.isFile())
      throw unusableSourceFailure('NOT_A_FILE', `${path} is not a regular file`, 'Name a file.');
    checkSize(path, Number(begun.size), purpose === null ? Number.POSITIVE_INFINITY : SIZE_LIMIT[purpose]);
    return {
      path,
      size: Number(begun.size),
      read: async (buffer, position) => (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
      async assertUnchanged() {
        const now = await handle.stat({ bigint: true });
        if (now.size !== begun.size || now.mtimeNs !== begun.mtimeNs) throw fileChangedFailure(path);
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openForReading(path: string): Promise<FileHandle> {
  try {
    // Without O_NONBLOCK, opening a named pipe waits for a writer forever.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT')
      throw unusableSourceFailure('FILE_NOT_FOUND', `there is no file ${path}`, 'Check the path.', error);
    const advice = 'Check its permissions.';
    throw unusableSourceFailure('FILE_NOT_READABLE', `${path} cannot be opened (${code})`, advice, error);
  }
}

function checkSize(path: string, size: number, limit: number): void {
  if (size === 0) throw unusableSourceFailure('FILE_EMPTY', `${path} is empty`, 'Name a file with content.');
  if (size >= limit) {
    const advice = 'Send a smaller file, below the limit.';
    throw unusableSourceFailure('FILE_TOO_LARGE', `${path} has ${size} bytes, the limit is ${limit}`, advice);
  }
}

/** Large enough that the cost of a step does not show, small enough to keep memory flat. */
const CHUNK_BYTES = 1024 ** 2;

/** One is being sent, one is read ahead, and one is with the consumer in between. */
const BUFFERS = 3;

/**
 * The bytes of a file in chunks of 1 MiB; the next chunk is read while the previous one is sent. The memory of a chunk is
 * used again after two further chunks: the consumer has passed it to the kernel by then.
 * @throws Failure (FILE_CHANGED) before the last piece, so that a changed file is never sent whole
 */
export async function* readChunks(source: SourceFile): AsyncGenerator<Buffer> {
  const { size } = source;
  const buffers: Buffer[] = [];
  let turn = 0;
  const readAt = async (position: number) => {
    const buffer = buffers[turn] ?? Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, size));
    buffers[turn] = buffer;
    const wanted = buffer.subarray(0, Math.min(CHUNK_BYTES, size - position));
    turn = (turn + 1) % BUFFERS;
    return wanted.subarray(0, await source.read(wanted, position));
  };
  let ahead = readAt(0);
  try {
    for (let position = 0; position < size; ) {
      const chunk = await ahead;
      if (chunk.length === 0) throw fileChangedFailure(source.path);
      position += chunk.length;
      if (position < size) {
        ahead = readAt(position);
        // A failure is thrown at the next step; until then no handler is attached.
        ahead.catch(() => {});
      } else {
        await source.assertUnchanged();
      }
      yield chunk;
    }
  } finally {
    // The file may be closed only after the last read has come back.
    await ahead.catch(() => {});
  }
}

/**
 * Reads the whole file for its hash, lower-case hex.
 * @throws Failure (FILE_CHANGED); the reason of the signal
 */
export async function hashFile(
  source: SourceFile,
  algorithm: 'sha256' | 'md5',
  signal: AbortSignal | undefined,
): Promise<string> {
  const hash = createHash(algorithm);
  for await (const chunk of readChunks(source)) {
    signal?.throwIfAborted();
    hash.update(chunk);
  }
  return hash.digest('hex');
}
