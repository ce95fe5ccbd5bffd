import type { Clock } from '../clock.ts';

/**
 * Runs work under a signal that ends with another one, or after so many ms with that failure; the work must reject with
 * the signal's reason.
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
