/** A store that cannot be used as it is: what is wrong with it, and what its owner can do. */

export type StoreTrouble =
  /** Damaged, empty, or the file of another program. */
  | 'STORE_DAMAGED'
  /** Written by a newer version. */
  | 'STORE_NEWER';

/** Nothing was changed. `message` is one sentence without the final stop, `advice` whole sentences. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';
  readonly code: StoreTrouble;
  readonly advice: string;

  constructor(code: StoreTrouble, message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.advice = advice;
  }
}

/** SQLITE_CORRUPT, and SQLITE_NOTADB: also what is left of a file whose beginning was overwritten. */
const REASONS: Readonly<Record<number, string>> = {
  11: 'it is damaged',
  26: 'it is not a database, or its beginning is damaged',
};

/**
 * The failure that an error of SQLite stands for; null for errors that are not about the content of the file.
 * @param advice what to do when that file is damaged
 */
export function failureOfContent(error: unknown, path: string, advice: string): StoreFailure | null {
  const reason = REASONS[resultCode(error)];
  return reason === undefined ? null : damaged(path, reason, advice, error);
}

/** @param reason as it goes on behind a colon */
export function damaged(path: string, reason: string, advice: string, cause?: unknown): StoreFailure {
  return new StoreFailure('STORE_DAMAGED', `the store ${path} cannot be used: ${reason}`, advice, { cause });
}

/** Result code of SQLite without its variant; -1 for an error that is none of SQLite's. */
export function resultCode(error: unknown): number {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return -1;
  // The low byte is the primary code, the others tell its variant.
  return error.errcode & 0xff;
}
