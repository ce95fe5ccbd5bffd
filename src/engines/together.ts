/** Runs tasks concurrently; if one fails, stops the others and waits for them. */

/**
 * Runs tasks concurrently.
 * @param tasks each receives a signal that aborts with `signal` and when another task fails
 * @returns the results, in the order of the tasks
 * @throws the first failure, after all tasks have ended, so that none still writes into the work folder
 */
export async function together<T>(
  signal: AbortSignal,
  tasks: readonly ((signal: AbortSignal) => Promise<T>)[],
): Promise<T[]> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const running = tasks.map((task) => task(either));
  try {
    return await Promise.all(running);
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(running);
    throw error;
  }
}
