import { open } from 'node:fs/promises';

/** Writes a file, or the names in a folder, through to the disk: a rename lasts only after its folder was written. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What such a failure is called in answers. */
export const DISK_FAILURE_DETAIL =
  'the disk of the service is full or failing; free some room, then try again';
