/**
 * The store on a SQLite file. There is one connection, so transactions run one after another, and other statements wait
 * until the transaction has ended. That wait is short: a transaction awaits only its statements, which are synchronous, so
 * it ends before the process does any I/O.
 */
import type { SqliteFile } from './sqlite-file.ts';
import type { Store, Transaction } from './store.ts';

const AWAITS_MORE = 'a transaction awaited something other than its own statements; it was rolled back';

/** A statement costs one microtask more than the same statement of the file. */
export function createSqliteStore(file: SqliteFile): Store {
  /** Rolls back the transaction that has begun; null if there is none. */
  let abort: ((error: Error) => void) | null = null;
  /** What was requested during the transaction, in order. */
  const waiting: (() => void)[] = [];

  /** Starts work when there is no transaction, usually immediately. */
  const whenFree = <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
    if (abort === null) return settle(work);
    if (waiting.length === 0) limitToMicrotasks(abort);
    return new Promise((resolve) => {
      waiting.push(() => resolve(settle(work)));
    });
  };

  /** In the next turn of the event loop, a transaction that awaits only its statements has ended. */
  const limitToMicrotasks = (ofTransaction: (error: Error) => void) => {
    setImmediate(() => {
      if (abort === ofTransaction) ofTransaction(new Error(AWAITS_MORE));
    });
  };

  const transact = <Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> => {
    file.begin();
    const { tx, end } = openTransaction(file);
    return new Promise((resolve, reject) => {
      const finish = (settled: () => void) => {
        end();
        abort = null;
        settled();
        while (abort === null && waiting.length > 0) waiting.shift()?.();
      };
      const fail = (error: unknown) => {
        try {
          file.rollback();
          finish(() => reject(error));
        } catch (second) {
          finish(() => reject(second));
        }
      };
      const complete = (result: Result) => {
        try {
          file.commit();
        } catch (error) {
          return fail(error);
        }
        finish(() => resolve(result));
      };
      const own = (error: Error) => fail(error);
      abort = own;
      if (waiting.length > 0) limitToMicrotasks(own);
      // What ends after it was rolled back has no effect.
      const whileOpen =
        <Value>(next: (value: Value) => void) =>
        (value: Value) => {
          if (abort === own) next(value);
        };
      settle(() => work(tx)).then(whileOpen(complete), whileOpen(fail));
    });
  };

  return {
    get: (sql, ...values) => whenFree(() => file.get(sql, ...values)),
    all: (sql, ...values) => whenFree(() => file.all(sql, ...values)),
    run: (sql, ...values) => whenFree(() => file.run(sql, ...values)),
    transaction: (work) => whenFree(() => transact(work)),
    close: () => whenFree(() => file.close()),
  };
}

/** Does the work now. An error becomes a rejection. */
function settle<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}

/** @returns the transaction for its work, and a function that refuses statements from then on */
function openTransaction(file: SqliteFile): { tx: Transaction; end: () => void } {
  let isOver = false;
  const within = <Result>(work: () => Result): Promise<Result> => {
    if (isOver) return Promise.reject(new Error('a statement came after its transaction had ended'));
    return settle(work);
  };
  const tx: Transaction = {
    isTransaction: true,
    get: (sql, ...values) => within(() => file.get(sql, ...values)),
    all: (sql, ...values) => within(() => file.all(sql, ...values)),
    run: (sql, ...values) => within(() => file.run(sql, ...values)),
  };
  return {
    tx,
    end() {
      isOver = true;
    },
  };
}
