/** Limits how much work runs at a time. */
export interface Semaphore {
  /**
   * Takes a slot when one is free. If the signal aborts while it waits, it takes one that is not free, so that work that is
   * stopped can end.
   * @param isFirst before all others that wait
   */
  take(signal: AbortSignal, isFirst?: boolean): Promise<void>;
  release(): void;
}

export function createSemaphore(slots: number): Semaphore {
  let free = slots;
  const waiting: (() => void)[] = [];
  return {
    take(signal, isFirst = false) {
      if (free > 0 || signal.aborted) {
        free -= 1;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const takeSlot = () => {
          free -= 1;
          signal.removeEventListener('abort', stopWaiting);
          resolve();
        };
        const stopWaiting = () => {
          waiting.splice(waiting.indexOf(takeSlot), 1);
          takeSlot();
        };
        signal.addEventListener('abort', stopWaiting, { once: true });
        if (isFirst) waiting.unshift(takeSlot);
        else waiting.push(takeSlot);
      });
    },
    release() {
      free += 1;
      if (free > 0) waiting.shift()?.();
    },
  };
}
