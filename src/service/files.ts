import { open } from 'node:fs/promises';

/** Flushes a file, or the names in a folder, to disk. A rename is durable only after its folder was flushed. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The name of such a failure in answers. */
export const DISK_FAILURE_DETAIL =
  'the disk of the service is full or failing; free some room, then try again';
