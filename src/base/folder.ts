/** Folders that a user named: how they are created, and their free space. */
import { mkdir, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './system-error.ts';

/**
 * Makes the folder and those above it that are missing, each with that mode; an existing one stays as it is.
 * Node's own recursive mkdir never ends where a file system reports new names as missing (/proc).
 * @param path absolute
 * @returns the uppermost that was made; null when all were there
 * @throws the error of the file system
 */
export async function makeFolder(path: string, mode = 0o777): Promise<string | null> {
  try {
    return await makeOne(path, mode);
  } catch (error) {
    const above = dirname(path);
    if (!isMissing(error) || above === path) throw error;
    const uppermost = await makeFolder(above, mode);
    const made = await makeOne(path, mode);
    return uppermost ?? made;
  }
}

async function makeOne(path: string, mode: number): Promise<string | null> {
  try {
    await mkdir(path, { mode });
    return path;
  } catch (error) {
    // The error for an existing folder differs: it exists, the disk is read-only, or permission is denied.
    const isThere = !isMissing(error) && (await stat(path).catch(() => null))?.isDirectory() === true;
    if (isThere) return null;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return errorCode(error) === 'ENOENT';
}

/** Free bytes in the folder, or where it will be created; null when the system does not report them. */
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
