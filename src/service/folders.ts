/** The state folder: what lies where, and that nobody else can read it. */

import { closeSync, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../disk/folder.ts';
import { errorCode } from '../errors/system-error.ts';

/** The owner alone may enter, read and write. */
export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

export interface Folders {
  readonly root: string;
  /** Bytes of uploads, one file each. */
  readonly uploads: string;
  /** Results, one folder for each finished attempt. */
  readonly assets: string;
  /** Temporary files of running jobs, one folder for each attempt. */
  readonly work: string;
}

/** Uploads, jobs, credits and keys; where it is missing no service has been. */
export function storePath(stateDir: string): string {
  return join(resolve(stateDir), 'service.sqlite');
}

/** The folders of a state folder, whether they are there or not. */
export function foldersOf(stateDir: string): Folders {
  const root = resolve(stateDir);
  return { root, uploads: join(root, 'uploads'), assets: join(root, 'assets'), work: join(root, 'work') };
}

/** Makes what is missing below the state folder; `loose` is true when others may read a folder that was already there. */
export async function prepareFolders(stateDir: string): Promise<{ folders: Folders; loose: boolean }> {
  const folders = foldersOf(stateDir);
  const { root } = folders;
  for (const folder of Object.values(folders)) await makeFolder(folder, FOLDER_MODE);
  return { folders, loose: ((await stat(root)).mode & 0o077) !== 0 };
}

/**
 * Makes an empty file that only the owner can read, unless it is there: SQLite itself would follow the umask. One that is
 * there is not opened: closing it again would drop all locks that this process has on it (POSIX), those of SQLite too.
 */
export function ensurePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', FILE_MODE));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
