/** Failures of a store that cannot be used. Nothing was changed, and the message names the file and the problem. */
import { Failure } from '../../errors/failure.ts';
import { sqliteCode } from '../../errors/system-error.ts';

/** SQLITE_CORRUPT and SQLITE_NOTADB. The second also means a file whose start was overwritten. */
const REASONS: Readonly<Record<number, string>> = {
  11: 'it is damaged',
  26: 'it is not a database, or its beginning is damaged',
};

/**
 * Returns the failure for an SQLite error; null for errors that are not about the content of the file.
 * @param advice what to do if the file is damaged
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
