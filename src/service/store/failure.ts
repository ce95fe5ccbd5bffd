/** A store that cannot be used: nothing was changed, and the message says what is wrong with which file. */
import { Failure } from '../../errors/failure.ts';
import { sqliteCode } from '../../errors/system-error.ts';

/** SQLITE_CORRUPT, and SQLITE_NOTADB: also a file whose beginning was overwritten. */
const REASONS: Readonly<Record<number, string>> = {
  11: 'it is damaged',
  26: 'it is not a database, or its beginning is damaged',
};

/**
 * The failure for an error of SQLite; null for errors that are not about the content of the file.
 * @param advice what to do when that file is damaged
 */
export function failureOfContent(error: unknown, path: string, advice: string): Failure | null {
  const reason = REASONS[sqliteCode(error) ?? 0];
  return reason === undefined ? null : damaged(path, reason, advice, error);
}

/** @param reason completes "cannot use the store FILE: " */
export function damaged(path: string, reason: string, advice: string, cause?: unknown): Failure {
  const message = `cannot use the store ${path}: ${reason}`;
  return new Failure({ category: 'disk', code: 'STORE_DAMAGED', message, advice }, { cause });
}
