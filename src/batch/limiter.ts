/** Limits for concurrent work: a semaphore with priorities, and a map over items. */

export interface Limiter {
  /**
   * Waits for a turn.
   * @param rank smaller ones first
   * @returns the call that ends the turn; a second call does nothing
   * @throws the reason of the signal
   */
  enter(rank: number, signal: AbortSignal): Promise<() => void>;
}

interface Waiting {
  readonly rank: number;
  readonly start: () => void;
}

/** @param count turns at a time */
export function createLimiter(count: number): Limiter {
  let free = count;
  const waiting = new Set<Waiting>();

  function next(): void {
    if (free === 0 || waiting.size === 0) return;
    const first = [...waiting].reduce((best, each) => (each.rank < best.rank ? each : best));
    waiting.delete(first);
    free -= 1;
    first.start();
  }

  function createTurn(): () => void {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      free += 1;
      next();
    };
  }

  return {
    enter(rank, signal) {
      return new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const giveUp = () => {
          if (waiting.delete(entry)) reject(signal.reason);
        };
        const start = () => {
          signal.removeEventListener('abort', giveUp);
          resolve(createTurn());
        };
        const entry: Waiting = { rank, start };
        signal.addEventListener('abort', giveUp);
        waiting.add(entry);
        next();
      });
    },
  };
}

/** Runs the work on all items, at most `width` at a time. The results are in the order of the items. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Map<number, R>();
  const queue = items.entries();
  const worker = async () => {
    for (const [position, item] of queue) results.set(position, await work(item));
  };
  await Promise.all(Array.from({ length: width }, worker));
  return [...results].toSorted(([left], [right]) => left - right).map(([, result]) => result);
}
