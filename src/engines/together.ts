/** Runs several pieces of work at a time; when one fails, the others are stopped and waited for. */

/**
 * @param tasks each is handed a signal that is aborted with `signal` and on the failure of another
 * @returns the results, in the order of the tasks
 * @throws the first failure, once all have ended: nothing writes into the work folder any more then
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
