/** Time limits of work and of transfers. */
import type { Readable } from 'node:stream';
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
 * Destroys a body if less than 60 KiB of it arrive within 60 s. A limit of the whole body would also end slow transfers that make
 * progress.
 * @param arrived returns the number of bytes so far
 */
export function watchFlow(body: Readable, arrived: () => number, clock: Clock): Cancel {
  let before = 0;
  return repeatEvery(clock, WINDOW_MS, () => {
    if (arrived() - before < MIN_BYTES_PER_WINDOW) body.destroy(new Error('the transfer stalled'));
    before = arrived();
  });
}
