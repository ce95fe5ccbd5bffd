/** Errors of the local disk in words. */

import { Failure } from '../failure.ts';
import { errorCode } from '../transport/describe-error.ts';

const REASONS: Readonly<Record<string, readonly [reason: string, advice: string]>> = {
  ENOSPC: ['the disk is full', 'Make room, then run the same command again.'],
  EDQUOT: ['your quota on this disk is used up', 'Make room, then run the same command again.'],
  EROFS: ['the disk cannot be written to', 'Choose another folder.'],
  EACCES: ['you may not write there', 'Choose another folder, or change its permissions.'],
  EPERM: ['you may not write there', 'Choose another folder, or change its permissions.'],
  ENOENT: ['the folder is gone, or none can be made there', 'Choose another folder.'],
  ENOTDIR: ['a part of the path is a file, not a folder', 'Choose another folder.'],
  EISDIR: ['there is a folder of that name', 'Choose another name.'],
  ELOOP: ['there is a symbolic link of that name', 'Remove the link.'],
  ENAMETOOLONG: ['the name is too long', 'Choose a shorter name.'],
  EFBIG: [
    'the file would be larger than this disk or your limits allow',
    'Choose another disk, or raise `ulimit -f`.',
  ],
  EMFILE: ['too many files are open', 'Raise the limit with `ulimit -n`, or run fewer jobs at once.'],
  EIO: ['the disk reports a read or write error', 'Check the disk.'],
};

/** What an error of the file system means, as it goes on behind a colon, and what to do. @param code such as `ENOSPC` */
export function describeDisk(code: string): { readonly reason: string; readonly advice: string } {
  const [reason, advice] = REASONS[code] ?? [
    `the file system refuses it (${code || 'unknown error'})`,
    'Check the folder.',
  ];
  return { reason, advice };
}

/** Wraps an error of the file system; a Failure passes as it is. */
export function diskFailure(error: unknown, path: string): Failure {
  if (error instanceof Failure) return error;
  const { reason, advice } = describeDisk(errorCode(error));
  const message = `${path} cannot be written: ${reason}`;
  return new Failure(
    { category: 'disk', code: 'DISK_ERROR', message, advice, retryable: false },
    { cause: error },
  );
}

/** Runs work on a file; what fails becomes a Failure of category `disk`. */
export async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskFailure(error, path);
  }
}
