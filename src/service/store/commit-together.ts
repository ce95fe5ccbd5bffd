/** Work that comes in at the same moment, done in one transaction: a commit costs more than all that it keeps. */
import type { Store } from './store.ts';

/**
 * Does the work in a transaction soon, and resolves once that is committed. When the work throws, nothing of it is kept
 * and its promise rejects, while what shared the transaction is done again, each in one of its own. So work must change
 * nothing but the store.
 */
export type CommitTogether = <Result>(work: () => Result) => Promise<Result>;

interface Waiting {
  /** Does the work and gives what tells its caller of it. */
  readonly attempt: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** Makes a gatherer of work for one store; it waits for nothing but the requests that have arrived already. */
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
    const tell = batch.map(({ attempt }) => attempt());
    working = false;
    return tell;
  };
  try {
    for (const tell of store.transaction(attemptAll)) tell();
  } catch (error) {
    // A store that could not begin or commit would not do so for each one either, and may take seconds to say it.
    if (working && batch.length > 1) for (const each of batch) commit(store, [each]);
    else for (const { reject } of batch) reject(error);
  }
}
