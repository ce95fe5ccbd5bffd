/** What goes wrong with local records: what happened, why, what to do next. */

/** The facts have the names that failures of the client have, so that a command can pass them on as they are. */
export interface JournalFacts {
  /** `disk`: the local file system; `temporary`: somebody else holds what is needed. */
  readonly category: 'disk' | 'temporary';
  readonly code: 'DISK_ERROR' | 'FOLDER_LOCKED';
  /** One sentence without the final stop. */
  readonly message: string;
  /** What to do next, one sentence. */
  readonly advice: string;
  /** True when the same command may succeed later without a change. */
  readonly retryable: boolean;
}

export class JournalFailure extends Error {
  override readonly name = 'JournalFailure';
  readonly facts: JournalFacts;

  constructor(facts: JournalFacts, options?: ErrorOptions) {
    super(facts.message, options);
    this.facts = facts;
  }
}

const REASONS: Readonly<Record<string, readonly [reason: string, advice: string]>> = {
  ENOSPC: ['the disk is full', 'Make room, then run the same command again.'],
  EDQUOT: ['your quota on this disk is used up', 'Make room, then run the same command again.'],
  EROFS: ['the disk cannot be written to', 'Choose a folder on another disk.'],
  EACCES: ['you have no right to', 'Change its permissions, or choose another folder.'],
  EPERM: ['you have no right to', 'Change its permissions, or choose another folder.'],
  ELOOP: ['it is a symbolic link', 'Remove the link.'],
  ENOTDIR: ['a part of the path is a file, not a folder', 'Choose another folder.'],
  EISDIR: ['there is a folder of that name', 'Remove the folder.'],
  EMFILE: ['too many files are open', 'Raise the limit with `ulimit -n`, or run fewer jobs at once.'],
  EFBIG: ['the file would be larger than your limits allow', 'Raise the limit with `ulimit -f`.'],
  EIO: ['the disk reports a read or write error', 'Check the disk before anything else.'],
};

/** The code of an error of the file system, such as `ENOSPC`; empty for any other error. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** Runs work on a file; an error of the file system becomes a JournalFailure of category `disk`. */
export async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = errorCode(error);
    if (code === '' || error instanceof JournalFailure) throw error;
    const [reason, advice] = REASONS[code] ?? [`the file system answers ${code}`, 'Check the folder.'];
    const message = `the record ${path} cannot be kept: ${reason}`;
    throw new JournalFailure(
      { category: 'disk', code: 'DISK_ERROR', message, advice, retryable: false },
      { cause: error },
    );
  }
}
