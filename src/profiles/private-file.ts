/** Files that only the user may read: folders 0700, files 0600, links not followed for writing. */
import { lstat, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { configurationFailure, diskFailure, Failure } from '../base/failure.ts';
import { makeFolder } from '../base/folder.ts';
import { describeDisk, errorCode } from '../base/system-error.ts';

export const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** Permission bits of the group and of others. */
const OTHERS = 0o077;

/** A file of profiles with more than this was not written by vloc: a thousand profiles have a third of it. */
const LARGEST_BYTES = 1024 * 1024;

export type Warn = (text: string) => void;

/** Creates the folder if it is missing; warns if other users can read it. */
export async function ensurePrivateFolder(folder: string, warn: Warn): Promise<void> {
  await makeFolder(folder, PRIVATE_FOLDER);
  warnOfMode(folder, (await stat(folder)).mode, PRIVATE_FOLDER, warn);
}

/**
 * Whether there is such a file. Warns where others may read it too.
 * @throws Failure (`configuration`) for one that cannot be read or is too large
 */
export async function findPrivateFile(path: string, warn: Warn): Promise<boolean> {
  try {
    const { mode, size } = await stat(path);
    if (size > LARGEST_BYTES) throw unreadableProfilesFailure(path, `it has ${size} bytes`);
    warnOfMode(path, mode, PRIVATE_FILE, warn);
    return true;
  } catch (error) {
    if (error instanceof Failure) throw error;
    const code = errorCode(error);
    if (code === 'ENOENT') return false;
    if (code === 'ENOTDIR') throw folderFailure(dirname(path), 'use', error);
    throw unreadableProfilesFailure(path, error instanceof Error ? error.message : String(error));
  }
}

export function unreadableProfilesFailure(path: string, why: string): Failure {
  return configurationFailure(
    'PROFILES_UNREADABLE',
    `the profiles in ${path} cannot be read: ${why}`,
    'Check that path and its permissions; VLOC_CONFIG_DIR chooses another folder.',
  );
}

/**
 * A link could lead the secrets to a file that others read.
 * @throws Failure (`configuration`)
 */
export async function refuseLink(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found === null || found.isFile()) return;
  throw configurationFailure(
    'PROFILES_NOT_A_FILE',
    `${path} is ${found.isSymbolicLink() ? 'a symbolic link' : 'not a regular file'}, so no secret was written to it`,
    'Put the file itself there, or choose the real folder with VLOC_CONFIG_DIR.',
  );
}

function warnOfMode(path: string, mode: number, wanted: number, warn: Warn): void {
  // Windows has no such bits: Node shows 0666 for every file there.
  if (process.platform === 'win32' || (mode & OTHERS) === 0) return;
  const shown = (mode & 0o777).toString(8);
  warn(`${path} is open to others (mode ${shown}); close it: chmod ${wanted.toString(8)} '${path}'`);
}

/** @param action what failed */
function folderFailure(folder: string, action: 'use' | 'write', cause: unknown): Failure {
  const { reason, advice } = describeDisk(errorCode(cause), folder);
  return diskFailure(
    'PROFILES_FOLDER',
    `cannot ${action} the folder of profiles ${folder}: ${reason}`,
    `${advice} VLOC_CONFIG_DIR names it.`,
    {},
    { cause },
  );
}

/**
 * Runs work that writes into the folder.
 * @throws Failure (`disk`) for errors of the file system, also those that the lock reports; other errors as they are
 */
export async function inProfilesFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const cause = error instanceof Failure && error.facts.code === 'DISK_ERROR' ? error.cause : error;
    if (!(cause instanceof Error && 'syscall' in cause)) throw error;
    throw folderFailure(folder, 'write', cause);
  }
}
