/** One SQLite file: prepared statements kept, transactions that nest by joining. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Failure } from '../../errors/failure.ts';
import { isDiskFull, sqliteCode } from '../../errors/system-error.ts';
import { ensurePrivateFile } from '../folders.ts';
import { failureOfContent } from './failure.ts';

export interface Store {
  /** The first row, or undefined. `Row` names the columns that the statement selects. */
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[];
  /** Runs a statement and gives the number of rows it changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  /** All or nothing; within another transaction it becomes part of that one. `work` must not wait for anything. */
  transaction<Result>(work: () => Result): Result;
  /** Runs statements that take no values, separated by semicolons. */
  script(sql: string): void;
  /** Grows with every statement that may have changed something, and when changes are taken back. */
  writes(): number;
  close(): void;
}

const READS = /^\s*(?:SELECT|PRAGMA)\b/;

/** How long a statement waits for another process that writes; transactions here take milliseconds. */
const BUSY_TIMEOUT_MS = 5000;

interface StoreOptions {
  /** FULL survives a loss of power; NORMAL survives the death of the process. */
  readonly synchronous: 'FULL' | 'NORMAL';
  /** What to do when the file is damaged, whole sentences. */
  readonly advice: string;
  /** Called at each statement that finds damage; not while the store is opened, which throws it. */
  readonly onFailure?: (failure: Failure) => void;
  /** Reads what it wants before anything is written; what it throws ends the opening. */
  readonly inspect?: (store: Store) => void;
}

/**
 * Opens or makes a store.
 * @throws Failure, here and at each statement, where the file is damaged; else errors of SQLite
 */
export function openStore(path: string, options: StoreOptions): Store {
  ensurePrivateFile(path);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  let isOpen = false;
  const store = overDatabase(database, (error) => {
    const failure = failureOfContent(error, path, options.advice);
    if (failure === null) return error;
    if (isOpen) options.onFailure?.(failure);
    return failure;
  });
  try {
    options.inspect?.(store);
    store.script(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${options.synchronous}; PRAGMA foreign_keys = ON;`,
    );
    isOpen = true;
    return store;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** @param explain gives the error to throw for one of SQLite's */
function overDatabase(database: DatabaseSync, explain: (error: unknown) => unknown): Store {
  const explained = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw explain(error);
    }
  };
  const statements = new Map<string, StatementSync>();
  let inTransaction = false;
  let writes = 0;

  /** Rows may also come from a statement that changes them. */
  const countWrite = (sql: string) => {
    if (!READS.test(sql)) writes += 1;
  };

  const prepare = (sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };

  return {
    get<Row>(sql: string, ...values: SQLInputValue[]) {
      countWrite(sql);
      const row = explained(() => prepare(sql).get(...values));
      return row as Row | undefined; // the tables are STRICT and the statement names its columns
    },
    all<Row>(sql: string, ...values: SQLInputValue[]) {
      countWrite(sql);
      return explained(() => prepare(sql).all(...values)) as Row[]; // as above
    },
    run(sql, ...values) {
      writes += 1;
      return Number(explained(() => prepare(sql).run(...values)).changes);
    },
    transaction<Result>(work: () => Result): Result {
      if (inTransaction) return work();
      try {
        explained(() => prepare('BEGIN IMMEDIATE').run());
        inTransaction = true;
        const result = work();
        explained(() => prepare('COMMIT').run());
        return result;
      } catch (error) {
        writes += 1;
        // A full disk makes SQLite roll back by itself; a second time would hide the cause behind another error.
        if (database.isTransaction) prepare('ROLLBACK').run();
        throw error;
      } finally {
        inTransaction = false;
      }
    },
    script(sql) {
      writes += 1;
      explained(() => database.exec(sql));
    },
    writes: () => writes,
    close: () => database.close(),
  };
}

/** SQLITE_BUSY and SQLITE_LOCKED: another process writes. */
const BUSY_CODES: readonly (number | null)[] = [5, 6];

/** True when the store refused for a reason that may pass, so that the caller should come back later. */
export function isPassingStoreError(error: unknown): boolean {
  return BUSY_CODES.includes(sqliteCode(error)) || (sqliteCode(error) !== null && isDiskFull(error));
}
