/** The folder of the embedded service, when it cannot be used. */
import { Failure } from '../client/failure.ts';
import { describeTrouble, errorCode } from '../journal/failure.ts';
import type { StoreFailure } from '../service/index.ts';

/** SQLite has result codes of its own for what the file system refuses. Source: SQLite, "Result and Error Codes". */
const SQLITE_CODES: Readonly<Record<number, string>> = {
  8: 'EROFS',
  10: 'EIO',
  13: 'ENOSPC',
  14: 'EACCES',
};

/**
 * Runs work that opens the folder.
 * @param chooser what names the folder: a variable or an option
 * @throws Failure (`disk`); errors about other things than these files as they are
 */
export async function openStateFolder<T>(
  folder: string,
  chooser: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isStoreFailure(error)) throw failureOfStore(error);
    const code = diskCode(error, folder);
    if (code === null) throw error;
    const { reason, advice, isOfPlace } = describeTrouble(code);
    throw new Failure(
      {
        category: 'disk',
        code: 'DISK_ERROR',
        message: `the state folder ${folder} cannot be used: ${reason}`,
        advice: isOfPlace ? `${advice} ${chooser} names it.` : advice,
      },
      { cause: error },
    );
  }
}

/** A damaged store as the commands know failures. */
export function failureOfStore(cause: StoreFailure): Failure {
  const { code, message, advice } = cause;
  return new Failure({ category: 'disk', code, message, advice }, { cause });
}

/** By its name: the class would load the service. */
function isStoreFailure(error: unknown): error is StoreFailure {
  return error instanceof Error && error.name === 'StoreFailure';
}

/** Null for an error that is about something else than files of the folder. */
function diskCode(error: unknown, folder: string): string | null {
  if (!(error instanceof Error)) return null;
  if ('errcode' in error && typeof error.errcode === 'number') {
    // The low byte is the primary code, the others tell its variant.
    return SQLITE_CODES[error.errcode & 0xff] ?? null;
  }
  const path = 'path' in error && typeof error.path === 'string' ? error.path : null;
  if (path === null) return null;
  // A folder above it may be what cannot be made.
  return path.startsWith(folder) || folder.startsWith(path) ? errorCode(error) : null;
}
