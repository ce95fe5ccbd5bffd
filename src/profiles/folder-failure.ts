/** Errors of the file system in the folder of the profiles. */
import { Failure } from '../errors/failure.ts';
import { describeDisk, errorCode } from '../errors/system-error.ts';

/** @param action what failed */
export function folderFailure(folder: string, action: 'use' | 'write', cause: unknown): Failure {
  const { reason, advice } = describeDisk(errorCode(cause));
  return new Failure(
    {
      category: 'disk',
      code: 'PROFILES_FOLDER',
      message: `cannot ${action} the folder of profiles ${folder}: ${reason}`,
      advice: `${advice} VLOC_CONFIG_DIR names it.`,
    },
    { cause },
  );
}

/**
 * Runs work that writes into the folder.
 * @throws Failure (`disk`) for errors of the file system, also those that the lock reports; other errors as they are
 */
export async function inProfilesFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const cause = error instanceof Failure && error.facts.code === 'DISK_ERROR' ? error.cause : error;
    if (!(cause instanceof Error && 'syscall' in cause)) throw error;
    throw folderFailure(folder, 'write', cause);
  }
}
