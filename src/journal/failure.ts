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
  /** True where a folder elsewhere would do. */
  readonly isOfPlace: boolean;

  constructor(facts: JournalFacts, options?: ErrorOptions & { readonly isOfPlace?: boolean }) {
    super(facts.message, options);
    this.facts = facts;
    this.isOfPlace = options?.isOfPlace === true;
  }
}

/** What is wrong with a place of the file system. */
export interface DiskTrouble {
  /** As it goes on behind "cannot be kept: ". */
  readonly reason: string;
  /** One sentence. */
  readonly advice: string;
  /** True where a folder elsewhere would do. */
  readonly isOfPlace: boolean;
}

const TROUBLES: Readonly<Record<string, DiskTrouble>> = {
  ENOSPC: here('the disk is full', 'Make room, then run the same command again.'),
  EDQUOT: here('your quota on this disk is used up', 'Make room, then run the same command again.'),
  EROFS: elsewhere('the disk cannot be written to', 'Choose a folder on another disk.'),
  EACCES: elsewhere('you have no right to', 'Change its permissions, or choose another folder.'),
  EPERM: elsewhere('you have no right to', 'Change its permissions, or choose another folder.'),
  ELOOP: here('it is a symbolic link', 'Remove the link.'),
  ENOENT: elsewhere('the folder is gone, or none can be made there', 'Choose another folder.'),
  ENOTDIR: elsewhere('a part of the path is a file, not a folder', 'Choose another folder.'),
  EISDIR: here('there is a folder of that name', 'Remove the folder.'),
  EMFILE: here('too many files are open', 'Raise the limit with `ulimit -n`, or run fewer jobs at once.'),
  EFBIG: here('the file would be larger than your limits allow', 'Raise the limit with `ulimit -f`.'),
  EIO: here('the disk reports a read or write error', 'Check the disk before anything else.'),
};

function here(reason: string, advice: string): DiskTrouble {
  return { reason, advice, isOfPlace: false };
}

function elsewhere(reason: string, advice: string): DiskTrouble {
  return { reason, advice, isOfPlace: true };
}

/** @param code of an error of the file system, such as `ENOSPC` */
export function describeTrouble(code: string): DiskTrouble {
  return TROUBLES[code] ?? here(`the file system answers ${code}`, 'Check the folder.');
}

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
    const { reason, advice, isOfPlace } = describeTrouble(code);
    const message = `the record ${path} cannot be kept: ${reason}`;
    throw new JournalFailure(
      { category: 'disk', code: 'DISK_ERROR', message, advice, retryable: false },
      { cause: error, isOfPlace },
    );
  }
}

/** How users name the state folder, in which the records of this machine lie. */
const STATE_FOLDER_NAME = 'VLOC_STATE_DIR';

/** Runs work on records in a folder; where another one would do, the failure says what names it: an option, a variable. */
export async function inFolderOf<T>(chooser: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof JournalFailure) || !error.isOfPlace) throw error;
    const advice = `${error.facts.advice} ${chooser} names it.`;
    throw new JournalFailure({ ...error.facts, advice }, { cause: error.cause });
  }
}

/** Runs work on records in the state folder. */
export function inStateFolder<T>(work: () => Promise<T>): Promise<T> {
  return inFolderOf(STATE_FOLDER_NAME, work);
}
