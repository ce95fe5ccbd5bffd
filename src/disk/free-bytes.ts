import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Bytes that are free in the folder, or where it will be made; null when the system does not tell. */
export async function freeBytes(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const above = dirname(folder);
    return isMissing && above !== folder ? freeBytes(above) : null;
  }
}
