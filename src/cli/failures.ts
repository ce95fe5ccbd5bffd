/** Errors that nobody foresaw, made into what a user can act on. */
import { Failure } from '../client/failure.ts';

const DISK_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC: 'Make room on that disk, then run the same command again.',
  EDQUOT: 'The quota of that disk is used up: make room, then run the same command again.',
  EROFS: 'That file system is read-only: choose another folder, with --out where it is that of results.',
  EACCES:
    'Check the permissions of that path, or choose another folder, with --out where it is that of results.',
  EPERM:
    'Check the permissions of that path, or choose another folder, with --out where it is that of results.',
  EIO: 'The disk reports an error: check it before anything else.',
  EMFILE: 'Too many files are open: raise the limit with `ulimit -n`.',
};

/** The Failure that stands for any thrown value; a defect of ours says so and how to report it. */
export function asFailure(error: unknown): Failure {
  const code = errorCode(error);
  const advice = code === null ? undefined : DISK_ERRORS[code];
  const message = error instanceof Error ? error.message : String(error);
  if (code !== null && advice !== undefined) {
    return new Failure({ category: 'disk', code, message, advice }, { cause: error });
  }
  return new Failure(
    {
      category: 'refused',
      code: 'INTERNAL_DEFECT',
      message: `vloc met a case it does not handle: ${message}`,
      advice:
        'This is a defect: report it with the command and the output of the same command with --verbose.',
    },
    { cause: error },
  );
}

function errorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
