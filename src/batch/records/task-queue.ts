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

/**
 * Groups items that arrive while earlier ones are being written into one write and one sync.
 * @returns a function that resolves when its item is committed, and rejects when the commit of its group fails
 */
export function createGroupCommit<Item>(
  inTurn: TaskQueue,
  commit: (items: readonly Item[]) => Promise<void>,
): (items: readonly Item[]) => Promise<void> {
  let gathered: Item[] = [];
  let next: Promise<void> | null = null;
  return (items) => {
    gathered.push(...items);
    next ??= inTurn(() => {
      const group = gathered;
      gathered = [];
      next = null;
      return commit(group);
    });
    return next;
  };
}
