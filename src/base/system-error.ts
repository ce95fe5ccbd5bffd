/** Errors of the file system and of SQLite: the only table of their codes, what they mean, and what to do. */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { diskFailure, Failure } from './failure.ts';

/** Returns the code of a Node error, such as `ENOSPC`; empty for any other value. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** SQLite has its own result codes for errors of the file system. Source: SQLite, "Result and Error Codes". */
const SQLITE_CODES: Readonly<Record<number, string>> = {
  8: 'EROFS',
  10: 'EIO',
  13: 'ENOSPC',
  14: 'EACCES',
};

/** Returns the primary result code of an SQLite error; null for any other value. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return null;
  // The low byte is the primary code; the other bytes are its variant.
  return error.errcode & 0xff;
}

/** Returns the file system code that matches an SQLite error; null if there is none. */
export function diskCodeOfSqlite(error: unknown): string | null {
  return SQLITE_CODES[sqliteCode(error) ?? 0] ?? null;
}

/** The disk is full or failing, so retrying in another way does not help. */
const FULL_OR_FAILING: readonly string[] = ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'];

/** Returns true for an error of the file system or SQLite that means the disk is full, read-only or failing. */
export function isDiskFull(error: unknown): boolean {
  return FULL_OR_FAILING.includes(diskCodeOfSqlite(error) ?? errorCode(error));
}

interface DiskTrouble {
  /** Completes "cannot write FILE: ". */
  readonly reason: string;
  /** One or two sentences. */
  readonly advice: string;
  /** True if another folder would work. */
  readonly isOfPlace: boolean;
}

const here = (reason: string, advice: string): DiskTrouble => ({ reason, advice, isOfPlace: false });
const elsewhere = (reason: string, advice: string): DiskTrouble => ({ reason, advice, isOfPlace: true });

const DENIED = elsewhere('permission denied', 'Change its permissions, or choose another folder.');

const TROUBLES: Readonly<Record<string, DiskTrouble>> = {
  ENOSPC: here('the disk is full', 'Free some space, then run the same command again.'),
  EDQUOT: here('your disk quota is used up', 'Free some space, then run the same command again.'),
  EROFS: elsewhere('the disk is read-only', 'Choose a folder on another disk.'),
  EACCES: DENIED,
  EPERM: DENIED,
  ENOENT: elsewhere('the folder does not exist or cannot be created', 'Choose another folder.'),
  ENOTDIR: elsewhere('a part of the path is a file, not a folder', 'Choose another folder.'),
  EISDIR: here('it is a folder', 'Remove the folder, or choose another name.'),
  ELOOP: here('it is a symbolic link', 'Remove the link.'),
  ENAMETOOLONG: here('the name is too long', 'Choose a shorter name.'),
  EFBIG: here(
    'the file would exceed your limits',
    'Raise the limit with `ulimit -f`, or choose another disk.',
  ),
  EMFILE: here('too many files are open', 'Raise the limit with `ulimit -n`, or run fewer jobs at a time.'),
  EIO: here('the disk reports a read or write error', 'Check the disk before anything else.'),
};

/**
 * @param code a file system error code, such as `ENOSPC`
 * @param path absolute, where it was met; a full file system is asked whether space or inodes are missing
 */
export function describeDisk(code: string, path?: string): DiskTrouble {
  if (code === 'ENOSPC' && path !== undefined && isWithoutInodes(path)) return NO_INODES;
  return TROUBLES[code] ?? here(`the file system reports ${code || 'an unknown error'}`, 'Check the folder.');
}

/** A disk can have room and no inode left for another file. */
const NO_INODES = here(
  'the disk has no room for more files (no inodes left)',
  'Remove files that you do not need, or choose a folder on another disk.',
);

/** False for file systems that count no inodes, and if they cannot be asked. */
function isWithoutInodes(path: string): boolean {
  try {
    const { files, ffree } = statfsSync(path);
    return files > 0 && ffree === 0;
  } catch {
    const above = dirname(path);
    return above !== path && isWithoutInodes(above);
  }
}

/** Returns whether the table has this code. */
export function isDiskCode(code: string): boolean {
  return Object.hasOwn(TROUBLES, code);
}

/** Stands for bytes of a name that are not UTF-8. Such a name cannot be written back, so nothing is found under it. */
const REPLACED = '\ufffd';

const UNREADABLE: Readonly<Record<string, (what: 'file' | 'folder') => string>> = {
  ENOENT: (what) => `there is no such ${what}; check the path`,
  ENOTDIR: (what) => `there is no such ${what}; check the path`,
  EISDIR: () => 'this is a folder',
  EACCES: () => 'permission denied; check its permissions',
  EPERM: () => 'permission denied; check its permissions',
  ELOOP: (what) => `its links form a loop; name the ${what} itself`,
  ENAMETOOLONG: () => 'the name is too long for this system; check the path',
};

/** Returns why a path from the user cannot be read, and what to do; null for errors that are not about the path. */
export function describeUnreadable(error: unknown, what: 'file' | 'folder' = 'file'): string | null {
  const code = errorCode(error);
  if (code === 'ENOENT' && pathOf(error).includes(REPLACED)) return 'its name is not valid UTF-8; rename it';
  return UNREADABLE[code]?.(what) ?? null;
}

function pathOf(error: unknown): string {
  return error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : '';
}

/** Returns a Failure of category `disk` for an error of the file system. Returns a Failure unchanged. */
export function fileSystemFailure(error: unknown, path: string): Failure {
  if (error instanceof Failure) return error;
  const { reason, advice } = describeDisk(errorCode(error), path);
  const message = `cannot write ${path}: ${reason}`;
  return diskFailure('DISK_ERROR', message, advice, { retryable: false }, { cause: error });
}

/**
 * Runs work on a file or folder.
 * @throws Failure (`disk`) for errors of the file system; other errors unchanged
 */
export async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw errorCode(error) === '' ? error : fileSystemFailure(error, path);
  }
}

/**
 * Runs work in a folder. If another folder would work, the advice of a disk failure says how to choose one.
 * @param chooser the option or variable that sets the folder
 */
export async function inFolderOf<T>(chooser: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || error.facts.code !== 'DISK_ERROR') throw error;
    const { advice, isOfPlace } = describeDisk(errorCode(error.cause));
    throw isOfPlace ? error.with({ advice: `${advice} ${chooser} names it.` }) : error;
  }
}

/** Runs work whose result is optional. Returns `otherwise` if the disk fails. */
export async function unlessDiskFails<T, Otherwise>(
  work: () => Promise<T>,
  otherwise: Otherwise,
): Promise<T | Otherwise> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure && error.facts.category === 'disk') return otherwise;
    throw error;
  }
}
