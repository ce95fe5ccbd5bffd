import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../errors/system-error.ts';

/** Bytes that are free in the folder, or where it will be made; null when the system does not tell. */
export async function freeBytes(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT';
    const above = dirname(folder);
    return isMissing && above !== folder ? freeBytes(above) : null;
  }
}
