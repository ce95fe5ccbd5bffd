/** How a run comes to a stop: first nothing new is begun, then, for some reasons, nothing is waited for. */
import type { StopReason } from '../item.ts';
import { endsWaiting, STOP_WORDS } from './stop.ts';

/** What signals of a stopped run are aborted with. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`the run was stopped: ${reason}`);
    this.reason = reason;
  }
}

export interface Stopping {
  /** Null while it runs; the first reason stands. */
  readonly reason: StopReason | null;
  /** Aborted when nothing new may be begun, with Stopped as reason. */
  readonly launching: AbortSignal;
  /** Aborted when nothing may be waited for any more, with Stopped as reason. */
  readonly waiting: AbortSignal;
  /** @param why one sentence without its final stop; omitted: the words of the reason */
  stop(reason: StopReason, why?: string): void;
  /** Stops listening to the signal. */
  end(): void;
}

/**
 * @param signal of the user: aborted, it stops everything
 * @param onStop called with each reason that stops more than those before it
 */
export function createStopping(
  signal: AbortSignal,
  onStop: (reason: StopReason, why: string) => void,
): Stopping {
  const launching = new AbortController();
  const waiting = new AbortController();
  let first: StopReason | null = null;

  function stop(reason: StopReason, why = STOP_WORDS[reason].why): void {
    const isNews = first === null || (endsWaiting(reason) && !waiting.signal.aborted);
    if (!isNews) return;
    first ??= reason;
    launching.abort(new Stopped(reason));
    if (endsWaiting(reason)) waiting.abort(new Stopped(reason));
    onStop(reason, why);
  }

  const interrupt = () => stop('interrupted');
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) interrupt();
  return {
    get reason() {
      return first;
    },
    launching: launching.signal,
    waiting: waiting.signal,
    stop,
    end: () => signal.removeEventListener('abort', interrupt),
  };
}
