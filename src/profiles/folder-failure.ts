/** What the file system has against the folder of the profiles. */
import { Failure } from '../client/failure.ts';
import { JournalFailure } from '../journal/failure.ts';

/** The code of an error of the file system, also one that the lock reports; null for any other. */
function folderTrouble(error: unknown): string | null {
  if (error instanceof JournalFailure) return folderTrouble(error.cause);
  if (!(error instanceof Error) || error instanceof Failure) return null;
  return 'syscall' in error && 'code' in error ? String(error.code) : null;
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
