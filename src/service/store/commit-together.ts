/** Groups concurrent writes into one transaction, because a commit costs more than the writes in it. */
import type { Store } from './store.ts';

/**
 * Does the work in a transaction soon, and resolves after it is committed. If the work throws, none of it is stored and
 * its promise rejects. The rest of the transaction is then repeated, each piece of work in a separate transaction. So
 * work must change only the store.
 */
export type CommitTogether = <Result>(work: () => Result) => Promise<Result>;

interface Waiting {
  /** Does the work and returns the function that reports it to the caller. */
  readonly attempt: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** Groups the work for one store. Waits only for requests that have already arrived. */
export function createCommitTogether(store: Store): CommitTogether {
  let waiting: Waiting[] = [];
  const flush = () => {
    const batch = waiting;
    waiting = [];
    commit(store, batch);
  };
  return (work) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      const attempt = () => {
        const result = work();
        return () => resolve(result);
      };
      waiting.push({ attempt, reject });
    });
}

function commit(store: Store, batch: readonly Waiting[]): void {
  let working = false;
  const attemptAll = () => {
    working = true;
    const settle = batch.map(({ attempt }) => attempt());
    working = false;
    return settle;
  };
  try {
    for (const settle of store.transaction(attemptAll)) settle();
  } catch (error) {
    // A store that cannot begin or commit now would also fail for each single piece of work, and each failure may take
    // seconds.
    if (working && batch.length > 1) for (const each of batch) commit(store, [each]);
    else for (const { reject } of batch) reject(error);
  }
}
