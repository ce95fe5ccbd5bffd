import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { describeUnreadable } from '../../base/system-error.ts';

/** Size in bytes and modification time of a file, or why it cannot be read. */
export async function statReadable(path: string): Promise<{ bytes: number; mtimeMs: number } | string> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return 'this is a folder; name the files in it, for example with *.mp4';
    if (!found.isFile()) return 'this is not a regular file';
    await access(path, constants.R_OK);
    return { bytes: found.size, mtimeMs: found.mtimeMs };
  } catch (error) {
    return explain(error, 'file');
  }
}

/** Why a path is not a folder; null if it is one. */
export async function whyNoFolder(path: string): Promise<string | null> {
  try {
    return (await stat(path)).isDirectory() ? null : 'this is not a folder; check the path';
  } catch (error) {
    return explain(error, 'folder');
  }
}

/** @throws errors that do not concern the path */
function explain(error: unknown, what: 'file' | 'folder'): string {
  const why = describeUnreadable(error, what);
  if (why === null) throw error;
  return why;
}

/** Whether the path exists: a file, a folder or anything else. */
export async function pathExists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
