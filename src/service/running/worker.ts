/** Works on leased rows, a bounded number at once, and stops at once when a row is no longer ours. */
import { type Cancel, type Clock, repeat } from '../clock.ts';
import type { Log } from '../log.ts';
import { LEASE_MS, type Lease, type Leases, RENEW_MS } from './leases.ts';

/** The row was cancelled, or another process took it over. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** The service is closing: somebody else will do the work. */
export class ShuttingDown extends Error {
  override readonly name = 'ShuttingDown';
}

export interface WorkerParts {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly log: Log;
  /** How many rows are worked on at once. */
  readonly slots: number;
  /** Does the work and records its end. It must watch the signal. */
  readonly work: (lease: Lease, signal: AbortSignal) => Promise<void>;
  /** Records an attempt that threw; not called when the row was lost or the service is closing. */
  readonly fail: (lease: Lease, error: unknown) => void;
}

export interface Worker {
  /** Looks for work now instead of at the next poll. */
  wake(): void;
  /** Drops a row that was cancelled in this process. */
  drop(id: string): void;
  /** Stops everything and hands back what is unfinished. */
  stop(): Promise<void>;
}

/** How often rows of other processes, and those to be tried again, are looked for. */
const POLL_MS = 1000;

/** Starts a worker. */
export function startWorker(parts: WorkerParts): Worker {
  const { leases, clock, log, slots } = parts;
  const running = new Map<string, { controller: AbortController; done: Promise<void> }>();
  /** Ends of attempts that the store did not take, to be recorded again, by the ids of their rows. */
  const unrecorded = new Map<string, () => void>();
  let stopping = false;
  let lastPoll = clock.now();
  let calmAt = 0;

  const wake = () => {
    try {
      while (!stopping && running.size < slots) {
        const now = clock.now();
        const lease = leases.claim(now, now >= calmAt, [...running.keys(), ...unrecorded.keys()]);
        if (lease === null) return;
        begin(lease);
      }
    } catch (error) {
      log({ level: 'error', message: 'looking for work failed; it is tried again', error });
    }
  };

  const begin = (lease: Lease) => {
    const controller = new AbortController();
    const done = run(parts, lease, controller, (record) => unrecorded.set(lease.id, record)).finally(() => {
      running.delete(lease.id);
      wake();
    });
    running.set(lease.id, { controller, done });
  };

  const poll = () => {
    const now = clock.now();
    // The machine slept, and all leases lapsed in its sleep: their owners get the time to renew them.
    if (now - lastPoll > LEASE_MS) calmAt = now + 2 * RENEW_MS;
    lastPoll = now;
    recordAgain();
    wake();
  };

  const recordAgain = () => {
    for (const [id, record] of unrecorded) {
      try {
        record();
        unrecorded.delete(id);
      } catch (error) {
        log({ level: 'warn', message: 'the end of an attempt is still not recorded', resourceId: id, error });
        return;
      }
    }
  };
  const stopPolling: Cancel = repeat(clock, POLL_MS, poll);
  wake();
  return {
    wake,
    drop: (id) => running.get(id)?.controller.abort(new LeaseLost('cancelled')),
    async stop() {
      stopping = true;
      stopPolling();
      for (const { controller } of running.values()) controller.abort(new ShuttingDown('the service closes'));
      await Promise.all(Array.from(running.values(), ({ done }) => done));
    },
  };
}

/**
 * One attempt from lease to end; never throws.
 * @param putOff takes the recording of an end that the store, full or busy, did not take: without it, this process
 *   would hold the row and do nothing
 */
async function run(
  parts: WorkerParts,
  lease: Lease,
  controller: AbortController,
  putOff: (record: () => void) => void,
): Promise<void> {
  const { leases, clock, log, work, fail } = parts;
  const stopRenewing = repeat(clock, RENEW_MS, () => {
    try {
      if (!leases.renew(lease.id, clock.now())) controller.abort(new LeaseLost('cancelled or taken over'));
    } catch (error) {
      // A busy store passes; should it not, the lease lapses and another process takes over.
      log({ level: 'warn', message: 'a lease was not renewed', resourceId: lease.id, error });
    }
  });
  try {
    await work(lease, controller.signal);
  } catch (error) {
    const { reason } = controller.signal;
    if (reason instanceof LeaseLost) return;
    const record = () => {
      if (reason instanceof ShuttingDown) leases.release(lease.id, { runAfter: 0, counted: false });
      else fail(lease, error);
    };
    try {
      record();
    } catch (second) {
      const message = 'the end of an attempt was not recorded; it is tried again';
      log({ level: 'error', message, resourceId: lease.id, error: second });
      putOff(record);
    }
  } finally {
    stopRenewing();
  }
}
