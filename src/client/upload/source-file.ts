/** A local file on its way out: opened once, so that what is checked is what is sent. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Failure } from '../../errors/failure.ts';
import { errorCode } from '../../errors/system-error.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { UploadPurpose } from '../../protocol/states.ts';

export interface SourceFile {
  readonly path: string;
  readonly size: number;
  /** Fills the buffer from that place; gives the bytes read, 0 at the end. */
  read(buffer: Buffer, position: number): Promise<number>;
  /** @throws Failure (`usage`, FILE_CHANGED) when somebody wrote to the file since it was opened */
  assertUnchanged(): Promise<void>;
  close(): Promise<void>;
}

const SIZE_LIMIT: Readonly<Record<UploadPurpose, number>> = {
  source_video: LIMITS.videoBytes,
  subtitle_file: LIMITS.subtitleBytes,
};

function unusable(code: string, message: string, advice: string, cause?: unknown): Failure {
  return new Failure({ category: 'usage', code, message, advice }, cause === undefined ? {} : { cause });
}

/** The failure of a file that is not what it was when the upload began. */
export function fileChanged(path: string): Failure {
  return unusable(
    'FILE_CHANGED',
    `${path} changed while it was sent`,
    'Wait until it is written, then try again.',
  );
}

/**
 * Opens a file to be sent.
 * @param purpose null for one that is only read here, however large
 * @throws Failure (`usage`) when it cannot be read, is no regular file, is empty, or over the limit of its purpose
 */
export async function openSourceFile(path: string, purpose: UploadPurpose | null): Promise<SourceFile> {
  const handle = await openForReading(path);
  try {
    const begun = await handle.stat({ bigint: true });
    if (!begun.isFile()) throw unusable('NOT_A_FILE', `${path} is not a regular file`, 'Name a file.');
    checkSize(path, Number(begun.size), purpose === null ? Number.POSITIVE_INFINITY : SIZE_LIMIT[purpose]);
    return {
      path,
      size: Number(begun.size),
      read: async (buffer, position) => (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
      async assertUnchanged() {
        const now = await handle.stat({ bigint: true });
        if (now.size !== begun.size || now.mtimeNs !== begun.mtimeNs) throw fileChanged(path);
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
    // Without O_NONBLOCK, opening a named pipe waits for a writer for ever.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT')
      throw unusable('FILE_NOT_FOUND', `there is no file ${path}`, 'Check the path.', error);
    const advice = 'Check its permissions.';
    throw unusable('FILE_NOT_READABLE', `${path} cannot be opened (${code})`, advice, error);
  }
}

function checkSize(path: string, size: number, limit: number): void {
  if (size === 0) throw unusable('FILE_EMPTY', `${path} is empty`, 'Name a file with content.');
  if (size >= limit) {
    const advice = 'Send a smaller one: the service takes less than that.';
    throw unusable('FILE_TOO_LARGE', `${path} has ${size} bytes, the limit is ${limit}`, advice);
  }
}
