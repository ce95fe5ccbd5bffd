/** The layout of the state folder, which no other user can read, and durable writes in it. */

import { randomBytes, randomUUID } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { link, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../base/folder.ts';
import { errorCode } from '../base/system-error.ts';

/** Only the owner may enter, read and write. */
export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

export interface Folders {
  readonly root: string;
  /** Bytes of uploads, one file each. */
  readonly uploads: string;
  /** Results, one folder per finished attempt. */
  readonly assets: string;
  /** Temporary files of running jobs, one folder per attempt. */
  readonly work: string;
  /** Results of stages that jobs share, one folder each. */
  readonly stages: string;
}

/**
 * Returns the path of the store with uploads, jobs, credits and keys. Without this file, no service has used the
 * folder.
 */
export function storePath(stateDir: string): string {
  return join(resolve(stateDir), 'service.sqlite');
}

/** Returns the folders inside a state folder, whether they exist or not. */
export function foldersOf(stateDir: string): Folders {
  const root = resolve(stateDir);
  const at = (name: string) => join(root, name);
  return { root, uploads: at('uploads'), assets: at('assets'), work: at('work'), stages: at('stages') };
}

/** Creates missing folders in the state folder. `loose` is true if others may read a folder that already existed. */
export async function prepareFolders(stateDir: string): Promise<{ folders: Folders; loose: boolean }> {
  const folders = foldersOf(stateDir);
  const { root } = folders;
  for (const folder of Object.values(folders)) await makeFolder(folder, FOLDER_MODE);
  // Windows has no such bits: Node shows 0666 or 0777 for everything there.
  const loose = process.platform !== 'win32' && ((await stat(root)).mode & 0o077) !== 0;
  return { folders, loose };
}

/**
 * Creates an empty file that only the owner can read, unless it exists: SQLite itself would use the umask. An existing
 * file is not opened: closing it again would drop all locks of this process on it (POSIX), including those of SQLite.
 */
export function ensurePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', FILE_MODE));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Removes the work of all attempts at an unfinished job, left by a process that died. */
export async function removeWork({ work }: Folders, jobId: string): Promise<void> {
  const left = (await readdir(work)).filter((name) => jobOfAttempt(name) === jobId);
  for (const name of left) await rm(join(work, name), { recursive: true, force: true });
}

/** Writes a file unless it exists. Other processes see the whole file or none. */
export async function writeOnce(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, text, { flag: 'wx', mode: FILE_MODE, flush: true });
  try {
    await link(draft, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Names the folder of a new attempt.
 * @param owner the process, as in leases: its number, `-`, and what is unique for it
 */
export function nameAttempt(jobId: string, owner: string): string {
  return `${jobId}-${ownerPart(owner)}${randomBytes(ATTEMPT_BYTES).toString('hex')}`;
}

/** Whether a folder is that of an attempt by a process. */
export function isAttemptOf(folder: string, owner: string | null): boolean {
  const [, part = ''] = folder.split('-');
  return owner !== null && part.startsWith(ownerPart(owner));
}

/** 64 bits: attempts at one job are few. Longer paths are trouble for programs. */
const ATTEMPT_BYTES = 8;
const OWNER_LETTERS = 8;

function ownerPart(owner: string): string {
  return owner
    .slice(owner.indexOf('-') + 1)
    .replaceAll('-', '')
    .slice(0, OWNER_LETTERS);
}

/** The folder of an attempt is named by the id of its job, `-`, and a part that is unique for each attempt. */
export function jobOfAttempt(folder: string): string {
  return folder.split('-', 1)[0] ?? '';
}

/** The name of such a failure in answers. */
export const DISK_FAILURE_DETAIL =
  'the disk of the service is full or failing; free some space, then try again';
