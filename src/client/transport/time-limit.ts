/** An abort signal that fires when the caller gives up, or when too long passes without a sign of life. */

/** The reason of the signal when it was time that ended it. */
export class TimeOver extends Error {
  override readonly name = 'TimeOver';
}

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** A sign of life: from now on so many milliseconds are left. */
  restart(ms: number): void;
  /** To be called when the work ends, or the timer keeps the process alive. */
  clear(): void;
}

/** Starts the clock; `parent` is the caller's own signal. */
export function startTimeLimit(ms: number, parent: AbortSignal | undefined): TimeLimit {
  const controller = new AbortController();
  const onParentAbort = () => controller.abort(parent?.reason);
  if (parent?.aborted) onParentAbort();
  parent?.addEventListener('abort', onParentAbort, { once: true });
  const expire = () => controller.abort(new TimeOver('no answer in time'));
  let timer = setTimeout(expire, ms);
  return {
    signal: controller.signal,
    restart(next) {
      clearTimeout(timer);
      timer = setTimeout(expire, next);
    },
    clear() {
      clearTimeout(timer);
      parent?.removeEventListener('abort', onParentAbort);
    },
  };
}
