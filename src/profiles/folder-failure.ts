/** What the file system has against the folder of the profiles. */
import { Failure } from '../client/failure.ts';

/** The code of an error of the file system, also of one that another error reports, as the lock does; null for any other. */
function folderTrouble(error: unknown): string | null {
  if (!(error instanceof Error) || error instanceof Failure) return null;
  if ('syscall' in error && 'code' in error) return String(error.code);
  return folderTrouble(error.cause);
}

/** @param what cannot be done with the folder */
export async function folderFailure(
  folder: string,
  what: 'used' | 'written',
  code: string,
  cause: unknown,
): Promise<Failure> {
  // Loaded here: whoever has no trouble needs none of it.
  const { describeDisk } = await import('../client/download/disk-error.ts');
  const { reason, advice } = describeDisk(code);
  return new Failure(
    {
      category: 'disk',
      code: 'PROFILES_FOLDER',
      message: `the folder of profiles ${folder} cannot be ${what}: ${reason}`,
      advice: `${advice} VLOC_CONFIG_DIR names it.`,
    },
    { cause },
  );
}

/**
 * Runs work that writes into the folder.
 * @throws Failure (`disk`); what is no error of the file system as it is
 */
export async function inProfilesFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = folderTrouble(error);
    if (code === null) throw error;
    throw await folderFailure(folder, 'written', code, error);
  }
}
