/** Runs tasks concurrently: all of them, or a limited number at a time; and ends a wait with a signal. */
import type PQueue from 'p-queue';

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

/** Runs the work on all items, at most `width` at a time. The results are in the order of the items. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [position, item] of queue) results[position] = await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}

/**
 * Runs a task when the queue has a place. The signal ends the wait only: given to the queue, it would also give away the place of
 * a task that still runs, and reject before that has ended.
 * @param rank smaller ones first
 * @throws the reason of the signal if that aborts before the turn; whatever the task throws
 */
export async function inTurn<T>(
  queue: PQueue,
  signal: AbortSignal,
  task: () => Promise<T>,
  rank = 0,
): Promise<T> {
  signal.throwIfAborted();
  const waiting = new AbortController();
  const giveUp = () => waiting.abort(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  const begin = () => {
    signal.removeEventListener('abort', giveUp);
    return task();
  };
  return queue.add(begin, { signal: waiting.signal, priority: -rank });
}

/**
 * Waits for a turn that lasts longer than one function.
 * @returns the call that ends the turn; a second call does nothing
 * @throws the reason of the signal
 */
export function takeTurn(queue: PQueue, signal: AbortSignal, rank = 0): Promise<() => void> {
  return new Promise((resolve, reject) => {
    inTurn(queue, signal, () => new Promise<void>((end) => resolve(end)), rank).catch(reject);
  });
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
