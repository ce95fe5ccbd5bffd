/** The mark on an account that `vloc serve migrate` moves, so that it is never used in two places. */
import { configurationFailure, type Failure } from '../../base/failure.ts';

export interface Mark {
  /** `moved`: the account is elsewhere now. `arriving`: it is not complete here yet. */
  readonly kind: 'moved' | 'arriving';
  /** The same at both places. */
  readonly id: string;
  /** The other place, for messages. */
  readonly place: string;
  /** ms since 1970. */
  readonly at: number;
}

/**
 * Added to the version of the tables, so that a program that does not know marks refuses the account as one of a newer
 * version. No schema has as many versions.
 */
export const MARKED = 1_000_000;

export const MARK_TABLE = 'vloc_moved';
export const CREATE_MARK = `CREATE TABLE ${MARK_TABLE} (kind TEXT NOT NULL, id TEXT NOT NULL, place TEXT NOT NULL, at INTEGER NOT NULL) STRICT;`;

export const READ_MARK = `SELECT kind, id, place, at FROM ${MARK_TABLE}`;

/** @param shown what has the mark: a folder or a database */
export function markedFolderFailure({ kind, place, at }: Mark, shown: string): Failure {
  const day = new Date(at).toISOString().slice(0, 10);
  return kind === 'moved'
    ? configurationFailure(
        'STORE_MOVED',
        `the account of ${shown} was moved to ${place} on ${day}`,
        'Use it there. To use it here again as it was then, stop every vloc there and run `vloc serve migrate --undo`.',
      )
    : configurationFailure(
        'STORE_INCOMPLETE',
        `the account of ${shown} is not complete: moving it from ${place} was interrupted on ${day}`,
        'Run the same `vloc serve migrate` again; until then the account is used where it was.',
      );
}
