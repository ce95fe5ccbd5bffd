/** Time limits of work and of transfers. */
import type { IncomingMessage } from 'node:http';
import { type Cancel, type Clock, repeatEvery } from './clock.ts';

/**
 * Runs work with a time limit. Its signal aborts with `limit.signal`, or with `limit.failure` after `limit.ms`. The
 * work must reject with the reason of its signal.
 */
export async function withDeadline<Value>(
  limit: {
    readonly clock: Clock;
    readonly ms: number;
    readonly failure: Error;
    readonly signal: AbortSignal;
  },
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  const cancel = limit.clock.schedule(limit.ms, () => controller.abort(limit.failure));
  try {
    return await work(AbortSignal.any([limit.signal, controller.signal]));
  } finally {
    cancel();
  }
}

/** Long enough for a phone to switch cells. */
const WINDOW_MS = 60_000;
/** 1 KiB/s: at a lower rate, 1 GiB would take twelve days, but the URL is valid for one hour. */
const MIN_BYTES_PER_WINDOW = 60 * 1024;

/**
 * Destroys a request if less than 60 KiB arrive within 60 s. Node's own limit covers the whole body, so it would also
 * end slow transfers that make progress.
 */
export function watchFlow(request: IncomingMessage, clock: Clock): Cancel {
  const { socket } = request;
  // Bytes that arrived with the head of the request count for the first window.
  let before = socket.bytesRead - request.readableLength;
  return repeatEvery(clock, WINDOW_MS, () => {
    if (socket.bytesRead - before < MIN_BYTES_PER_WINDOW) request.destroy(new Error('the transfer stalled'));
    before = socket.bytesRead;
  });
}
