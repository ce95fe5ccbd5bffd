/**
 * One SQLite file with cached prepared statements, its secrets, and failures of a file that cannot be used. A transaction
 * within another one becomes part of it.
 */

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { Failure } from '../../errors/failure.ts';
import { isDiskFull, sqliteCode } from '../../errors/system-error.ts';
import { ensurePrivateFile } from '../folders.ts';
import type { RandomBytes } from '../random.ts';

export interface Store {
  /** Returns the first row, or undefined. `Row` names the columns that the statement selects. */
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[];
  /** Runs a statement and returns the number of changed rows. */
  run(sql: string, ...values: SQLInputValue[]): number;
  /** Runs work in a transaction; within another transaction, as part of it. `work` must not await anything. */
  transaction<Result>(work: () => Result): Result;
  /** Runs statements without parameters, separated by semicolons. */
  script(sql: string): void;
  /** A number that increases with every statement that may have changed data, and with every rollback. */
  writes(): number;
  close(): void;
}

const READS = /^\s*(?:SELECT|PRAGMA)\b/;

/** How long a statement waits while another process writes. Transactions of the service take milliseconds. */
const BUSY_TIMEOUT_MS = 5000;

interface StoreOptions {
  /** FULL survives a power failure; NORMAL survives the death of the process. */
  readonly synchronous: 'FULL' | 'NORMAL';
  /** What to do if the file is damaged, in whole sentences. */
  readonly advice: string;
  /** Called at each statement that finds damage, except while the store is opened, which throws instead. */
  readonly onFailure?: (failure: Failure) => void;
  /** Reads data before anything is written. If it throws, the store is not opened. */
  readonly inspect?: (store: Store) => void;
}

/**
 * Opens or creates a store.
 * @throws Failure, here and at each statement, if the file is damaged; else SQLite errors
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

/** @param explain returns the error to throw for an SQLite error */
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

  /** A statement that changes rows may also return rows. */
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
      return row as Row | undefined; // a cast: the tables are STRICT and the statement names its columns
    },
    all<Row>(sql: string, ...values: SQLInputValue[]) {
      countWrite(sql);
      return explained(() => prepare(sql).all(...values)) as Row[]; // a cast, as above
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
        // On a full disk, SQLite rolls back automatically. A second rollback would hide the cause behind another error.
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

/** Returns true for a temporary error of the store, so that the caller should retry later. */
export function isPassingStoreError(error: unknown): boolean {
  return BUSY_CODES.includes(sqliteCode(error)) || (sqliteCode(error) !== null && isDiskFull(error));
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
function failureOfContent(error: unknown, path: string, advice: string): Failure | null {
  const reason = REASONS[sqliteCode(error) ?? 0];
  return reason === undefined ? null : damaged(path, reason, advice, error);
}

/** @param reason completes "cannot use the store FILE: " */
export function damaged(path: string, reason: string, advice: string, cause?: unknown): Failure {
  const message = `cannot use the store ${path}: ${reason}`;
  return new Failure({ category: 'disk', code: 'STORE_DAMAGED', message, advice }, { cause });
}

/** 256 bits, the full key size of HMAC-SHA256 and AES-256. */
export const SECRET_BYTES = 32;

type SecretName = 'cursors' | 'links';

/** Returns the secret of that name. The first caller creates it. */
export function ensureSecret(store: Store, name: SecretName, randomBytes: RandomBytes): Buffer {
  const read = () => store.get<{ value: Uint8Array }>('SELECT value FROM secrets WHERE name = ?', name);
  let row = read();
  if (row === undefined) {
    // If two processes start together, the second uses the secret of the first.
    store.run('INSERT INTO secrets VALUES (?, ?) ON CONFLICT DO NOTHING', name, randomBytes(SECRET_BYTES));
    row = read();
  }
  if (row === undefined) throw new Error(`the secret "${name}" could not be stored`);
  return Buffer.from(row.value);
}
