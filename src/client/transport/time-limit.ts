/** An abort signal that fires when the caller gives up, or when too long passes without a sign of life. */
import { SYSTEM_RUNTIME } from '../runtime.ts';

/** The reason of the signal when it was time that ended it. */
export class TimeOver extends Error {
  override readonly name: string = 'TimeOver';
}

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** A sign of life: from now on so many milliseconds are left. */
  restart(ms: number): void;
  /** What the signal says when this time is over; asked for only then. */
  reason: () => TimeOver;
  /** To be called when the work ends, or the timer keeps the process alive. */
  clear(): void;
}

/** Starts the clock; `parent` is the caller's own signal. */
export function startTimeLimit(
  ms: number,
  parent: AbortSignal | undefined,
  { timer } = SYSTEM_RUNTIME,
): TimeLimit {
  const controller = new AbortController();
  const onParentAbort = () => controller.abort(parent?.reason);
  if (parent?.aborted) onParentAbort();
  parent?.addEventListener('abort', onParentAbort, { once: true });
  const expire = () => controller.abort(limit.reason());
  let stop = timer(ms, expire);
  const limit: TimeLimit = {
    signal: controller.signal,
    reason: () => new TimeOver('no answer in time'),
    restart(next) {
      stop();
      stop = timer(next, expire);
    },
    clear() {
      stop();
      parent?.removeEventListener('abort', onParentAbort);
    },
  };
  return limit;
}
