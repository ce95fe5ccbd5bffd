/**
 * The store on a SQLite file. There is one connection, so each statement and each transaction waits for the transaction
 * that was requested before it. That wait is short: a transaction awaits only its statements, which are synchronous.
 */
import type { SqliteFile } from './sqlite-file.ts';
import type { Statements, Store, Transaction } from './store.ts';

export function createSqliteStore(file: SqliteFile): Store {
  /** Settles with the last transaction that was requested. */
  let previous: Promise<unknown> = Promise.resolve();
  const tx: Transaction = { ...statementsOf(file), isTransaction: true };

  const run = async <Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> => {
    file.begin();
    try {
      const result = await work(tx);
      file.commit();
      return result;
    } catch (error) {
      file.rollback();
      throw error;
    }
  };

  return {
    get: (sql, ...values) => previous.then(() => file.get(sql, ...values)),
    all: (sql, ...values) => previous.then(() => file.all(sql, ...values)),
    run: (sql, ...values) => previous.then(() => file.run(sql, ...values)),
    transaction(work) {
      const result = previous.then(() => run(work));
      previous = result.catch(() => {});
      return result;
    },
    close: () => previous.then(() => file.close()),
  };
}

/** The statements of a file, for functions that also accept those of PostgreSQL. */
export function statementsOf(file: SqliteFile): Statements {
  return {
    get: async (sql, ...values) => file.get(sql, ...values),
    all: async (sql, ...values) => file.all(sql, ...values),
    run: async (sql, ...values) => file.run(sql, ...values),
  };
}
