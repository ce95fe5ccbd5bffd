/** Groups concurrent writes into one transaction: a commit costs more than the writes in it. */
import type { Store } from './store.ts';

/**
 * Does the work in a transaction soon, and resolves once that is committed. If the work throws, none of it is kept and
 * its promise rejects, and the rest of the transaction is repeated, each work in a transaction of its own. So work must
 * change nothing but the store.
 */
export type CommitTogether = <Result>(work: () => Result) => Promise<Result>;

interface Waiting {
  /** Does the work and returns the function that reports it to the caller. */
  readonly attempt: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** Groups the work for one store; it waits only for requests that have already arrived. */
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
    // A store that cannot begin or commit now would also fail for each single work, and may take seconds to do so.
    if (working && batch.length > 1) for (const each of batch) commit(store, [each]);
    else for (const { reject } of batch) reject(error);
  }
}
