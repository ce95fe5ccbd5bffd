/** Runs tasks concurrently: all of them, or a limited number at a time; and ends a wait with a signal. */

/**
 * Runs tasks concurrently.
 * @param tasks each receives a signal that aborts with `signal` and when another task fails
 * @returns the results, in the order of the tasks
 * @throws the first failure, after all tasks have ended, so that none still writes into the work folder
 */
export async function runTogether<T extends readonly unknown[]>(
  signal: AbortSignal,
  tasks: { readonly [At in keyof T]: (signal: AbortSignal) => Promise<T[At]> },
): Promise<T> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const running = tasks.map((task) => task(either));
  try {
    return (await Promise.all(running)) as readonly unknown[] as T; // in the order of the tasks
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(running);
    throw error;
  }
}

/** Runs tasks, at most `count` at one time; the others wait in order. A task whose signal is aborted no longer waits. */
export function createLimit(count: number): <T>(signal: AbortSignal, task: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  const take = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal.throwIfAborted();
      if (running < count) {
        running += 1;
        resolve();
        return;
      }
      const turn = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(turn), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.push(turn);
    });
  return async (signal, task) => {
    await take(signal);
    try {
      return await task();
    } finally {
      // The place goes to the next one that waits.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** Waits for a promise, but rejects with the reason of the signal if that aborts first. */
export function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal?.reason);
    promise.then(resolve, reject).finally(() => signal?.removeEventListener('abort', stop));
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
