/** The folder of the embedded service, when it cannot be used. */
import { Failure } from '../errors/failure.ts';
import { describeDisk, diskCodeOfSqlite, errorCode } from '../errors/system-error.ts';

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
    const code = diskCodeOfSqlite(error) ?? codeOfPath(error, folder);
    if (code === null) throw error;
    const { reason, advice, isOfPlace } = describeDisk(code);
    throw new Failure(
      {
        category: 'disk',
        code: 'DISK_ERROR',
        message: `cannot use the state folder ${folder}: ${reason}`,
        advice: isOfPlace ? `${advice} ${chooser} names it.` : advice,
      },
      { cause: error },
    );
  }
}

/** Null for an error that is not about files of the folder. */
function codeOfPath(error: unknown, folder: string): string | null {
  const path = error instanceof Error && 'path' in error ? error.path : null;
  if (typeof path !== 'string') return null;
  // A folder above it may be what cannot be made.
  return path.startsWith(folder) || folder.startsWith(path) ? errorCode(error) : null;
}
