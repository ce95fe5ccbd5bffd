/** Groups concurrent writes into one transaction, because a commit costs more than the writes in it. */
import type { Store, Transaction } from './store.ts';

/**
 * Does the work in a transaction soon, and resolves after it is committed. If the work throws, none of it is stored and
 * its promise rejects. The rest of the transaction is then repeated, each piece of work in a separate transaction. So
 * work must change only the store.
 */
export type CommitTogether = <Result>(work: (tx: Transaction) => Promise<Result>) => Promise<Result>;

interface Waiting {
  /** Does the work and returns the function that reports it to the caller. */
  readonly attempt: (tx: Transaction) => Promise<() => void>;
  readonly reject: (error: unknown) => void;
}

/** Groups the work for one store. Waits only for requests that have already arrived. */
export function createCommitTogether(store: Store): CommitTogether {
  let waiting: Waiting[] = [];
  const flush = () => {
    const batch = waiting;
    waiting = [];
    void commit(store, batch);
  };
  return (work) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      const attempt = (tx: Transaction) => work(tx).then((result) => () => resolve(result));
      waiting.push({ attempt, reject });
    });
}

/** Never throws. */
async function commit(store: Store, batch: readonly Waiting[]): Promise<void> {
  let working = false;
  const attemptAll = async (tx: Transaction) => {
    working = true;
    const settle: (() => void)[] = [];
    for (const { attempt } of batch) settle.push(await attempt(tx));
    working = false;
    return settle;
  };
  try {
    for (const settle of await store.transaction(attemptAll)) settle();
  } catch (error) {
    // A store that cannot begin or commit now would also fail for each single piece of work, and each failure may take
    // seconds.
    if (working && batch.length > 1) for (const each of batch) await commit(store, [each]);
    else for (const { reject } of batch) reject(error);
  }
}
