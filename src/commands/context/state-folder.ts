/** The state folder of a service, whose disk may fail. */
import { diskFailure, type Failure } from '../../base/failure.ts';
import { describeDisk, diskCodeOfSqlite, errorCode } from '../../base/system-error.ts';

/**
 * Runs work on the state folder of a service.
 * @param chooser the variable or option that names the folder
 * @throws Failure (`disk`) for errors about files of the folder; other errors unchanged
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
    throw code === null ? error : stateFolderFailure(code, folder, chooser, error);
  }
}

/**
 * @param code of the disk, such as `ENOSPC`
 * @param chooser the variable or option that names the folder
 */
export function stateFolderFailure(code: string, folder: string, chooser: string, cause: unknown): Failure {
  const { reason, advice, isOfPlace } = describeDisk(code, folder);
  return diskFailure(
    'DISK_ERROR',
    `cannot use the state folder ${folder}: ${reason}`,
    isOfPlace ? `${advice} ${chooser} names it.` : advice,
    {},
    { cause },
  );
}

/** The code of an error about files of the folder; null for other errors. */
function codeOfPath(error: unknown, folder: string): string | null {
  const path = error instanceof Error && 'path' in error ? error.path : null;
  if (typeof path !== 'string') return null;
  // The error may be about a parent of the folder.
  return path.startsWith(folder) || folder.startsWith(path) ? errorCode(error) : null;
}
