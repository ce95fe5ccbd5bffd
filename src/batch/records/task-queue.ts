/** Tasks of one process, in sequence. */

/** Runs tasks in sequence; a failed task does not block the next. */
type TaskQueue = <T>(work: () => Promise<T>) => Promise<T>;

export function createTaskQueue(): TaskQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}
