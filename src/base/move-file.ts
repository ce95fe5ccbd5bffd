/** Moves files between folders that may be on different disks. */
import { copyFile, rename, rm } from 'node:fs/promises';
import { errorCode } from './system-error.ts';

/**
 * Moves a file, over the one that may be there. Between disks it is copied: until the end, others may see a part of it.
 * @throws the error of the file system
 */
export async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    await copyFile(from, to);
    await rm(from);
  }
}
