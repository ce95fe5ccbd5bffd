import { open } from 'node:fs/promises';
import { isStoreDiskError } from './store/store.ts';

/** Writes a file, or the names in a folder, through to the disk: a rename lasts only after its folder was written. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Codes of the operating system for a disk that takes no more. */
const DISK_CODES: readonly string[] = ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'];

/** True for a failure of the disk under the service, which neither caller nor engine can mend. */
export function isDiskFailure(error: unknown): boolean {
  if (isStoreDiskError(error)) return true;
  return error instanceof Error && 'code' in error && DISK_CODES.includes(String(error.code));
}

/** What such a failure is called in answers. */
export const DISK_FAILURE_DETAIL =
  'the disk of the service is full or failing; free some room, then try again';
