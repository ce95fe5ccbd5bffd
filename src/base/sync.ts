/** Durable files and names: what is synced is on the disk when the machine loses power. */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { isDiskFull } from './system-error.ts';

/** Flushes a file to the disk. Windows refuses that for a file that is not open for writing. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.sync().finally(() => file.close());
}

/**
 * Makes the names in a folder durable: a rename is durable only after its folder was synced. Windows and some file systems
 * cannot; there the name is durable without, or nothing makes it so.
 * @throws the error of a disk that is full or failing
 */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    if (isDiskFull(error)) throw error;
  }
}

/** The same, where nothing else may happen meanwhile. */
export function syncFolderNow(path: string): void {
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    if (isDiskFull(error)) throw error;
  }
}
