/** One SQLite file, used synchronously: cached prepared statements, and failures of a file that cannot be used. */

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { diskFailure, type Failure } from '../../base/failure.ts';
import { sqliteCode } from '../../base/system-error.ts';
import { ensurePrivateFile } from '../folders.ts';
import type { SqlValue } from './store.ts';

export interface SqliteFile {
  /** Returns the first row, or undefined. `Row` names the columns that the statement selects. */
  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined;
  all<Row>(sql: string, ...values: SqlValue[]): Row[];
  /** Runs a statement and returns the number of changed rows. */
  run(sql: string, ...values: SqlValue[]): number;
  /** Begins a transaction that locks the file for other writers. There may be only one at a time. */
  begin(): void;
  commit(): void;
  /** Undoes the transaction, if there still is one: on a full disk, SQLite undoes it automatically. */
  rollback(): void;
  /** Runs work in a transaction. `work` must not await anything. */
  transaction<Result>(work: () => Result): Result;
  /** Runs statements without parameters, separated by semicolons. */
  script(sql: string): void;
  close(): void;
}

/** How long a statement waits while another process writes. Transactions of the service take milliseconds. */
export const BUSY_TIMEOUT_MS = 5000;

/** Longer than a command that reads keys has the file open; a service has it open until it ends. */
const ALONE_TIMEOUT_MS = 1000;

interface FileOptions {
  /** FULL survives a power failure; NORMAL survives the death of the process. */
  readonly synchronous: 'FULL' | 'NORMAL';
  /** Advice if the file is damaged, in whole sentences. */
  readonly advice: string;
  /** Locks the file until it is closed. If another connection has it open, opening throws SQLITE_BUSY. */
  readonly alone?: boolean;
  /** Called at each statement that finds damage, except while the file is opened, which throws instead. */
  readonly onFailure?: (failure: Failure) => void;
  /** Reads data before anything is written, while no other process can write. If it throws, the file is not opened. */
  readonly inspect?: (file: SqliteFile) => void;
}

/**
 * Opens or creates a file.
 * @throws Failure, here and at each statement, if the file is damaged; else SQLite errors
 */
export function openSqliteFile(path: string, options: FileOptions): SqliteFile {
  ensurePrivateFile(path);
  const { alone = false } = options;
  const database = new DatabaseSync(path, { timeout: alone ? ALONE_TIMEOUT_MS : BUSY_TIMEOUT_MS });
  let isOpen = false;
  const file = overDatabase(database, (error) => {
    const failure = contentFailure(error, path, options.advice);
    if (failure === null) return error;
    if (isOpen) options.onFailure?.(failure);
    return failure;
  });
  try {
    if (alone) file.script('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
    const { inspect } = options;
    if (inspect !== undefined) file.transaction(() => inspect(file));
    useWriteAheadLog(file);
    file.script(`PRAGMA synchronous = ${options.synchronous}; PRAGMA foreign_keys = ON;`);
    isOpen = true;
    return file;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLITE_BUSY: another connection has a lock on the file. */
export const SQLITE_BUSY = 5;

/**
 * SQLite does not wait for a writer when it sets the journal mode, so each further attempt comes after a lock that waits. Only
 * processes that open a new file write to it without the log, so the attempts end.
 */
function useWriteAheadLog(file: SqliteFile): void {
  for (;;) {
    try {
      file.script('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_BUSY) throw error;
    }
    file.script('BEGIN EXCLUSIVE; COMMIT');
  }
}

type Values = readonly [named: Readonly<Record<string, SqlValue>>, ...inOrder: readonly SqlValue[]];

/** Before 22.20 and 24.8, Node finds no place for a value in order where parameters have numbers: these go by name. */
function bind(sql: string, values: readonly SqlValue[]): Values {
  if (!/\?\d/.test(sql)) return [{}, ...values];
  return [Object.fromEntries(values.map((value, at) => [`?${at + 1}`, value]))];
}

/** @param explain returns the error to throw for an SQLite error */
function overDatabase(database: DatabaseSync, explain: (error: unknown) => unknown): SqliteFile {
  const explained = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw explain(error);
    }
  };
  const statements = new Map<string, StatementSync>();

  const prepare = (sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };

  const rollback = () => {
    // A second rollback would hide the cause behind another error.
    if (database.isTransaction) prepare('ROLLBACK').run();
  };
  const begin = () => {
    try {
      explained(() => prepare('BEGIN IMMEDIATE').run());
    } catch (error) {
      rollback();
      throw error;
    }
  };
  const commit = () => {
    explained(() => prepare('COMMIT').run());
  };

  return {
    get<Row>(sql: string, ...values: SqlValue[]) {
      const row = explained(() => prepare(sql).get(...bind(sql, values)));
      return row as Row | undefined; // a cast: the tables are STRICT and the statement names its columns
    },
    all<Row>(sql: string, ...values: SqlValue[]) {
      return explained(() => prepare(sql).all(...bind(sql, values))) as Row[]; // a cast, as above
    },
    run(sql, ...values) {
      return Number(explained(() => prepare(sql).run(...bind(sql, values))).changes);
    },
    begin,
    commit,
    rollback,
    transaction<Result>(work: () => Result): Result {
      begin();
      try {
        const result = work();
        commit();
        return result;
      } catch (error) {
        rollback();
        throw error;
      }
    },
    script(sql) {
      explained(() => database.exec(sql));
    },
    close: () => database.close(),
  };
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. The second also means a file whose start was overwritten. */
const REASONS: Readonly<Record<number, string>> = {
  11: 'it is damaged',
  26: 'it is not a database, or its beginning is damaged',
};

/**
 * Returns the failure for an SQLite error; null for errors that are not about the content of the file.
 * @param advice what to do if the file is damaged
 */
function contentFailure(error: unknown, path: string, advice: string): Failure | null {
  const reason = REASONS[sqliteCode(error) ?? 0];
  return reason === undefined ? null : damagedDatabaseFailure(path, reason, advice, error);
}

/** @param reason completes "cannot use the store FILE: " */
export function damagedDatabaseFailure(
  path: string,
  reason: string,
  advice: string,
  cause?: unknown,
): Failure {
  const message = `cannot use the store ${path}: ${reason}`;
  return diskFailure('STORE_DAMAGED', message, advice, {}, { cause });
}
