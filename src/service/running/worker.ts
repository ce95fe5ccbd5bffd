/** Works on a limited number of leased rows concurrently, and stops immediately when a lease is lost. */
import { once } from 'node:events';
import PQueue from 'p-queue';
import { sqliteCode } from '../../base/system-error.ts';
import { inTurn, takeTurn } from '../../base/together.ts';
import { type Cancel, type Clock, repeatEvery, sleepFor } from '../clock.ts';
import type { Log } from '../log.ts';
import { NoRoom, StorageAway } from '../storage/storage.ts';
import { DatabaseAway } from '../store/store.ts';
import { describeOwner, LEASE_MS, type Lease, type Leases, RENEW_MS } from './leases.ts';
import { createRepeats, type Repeats } from './repeats.ts';

/** The row was cancelled, or another process took it over. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * How often processes may die while they work on one row, before it is no longer started again. A power failure or a kill
 * must not fail a job, but a job under which every process dies must end. Ten times are minutes with a supervisor that
 * restarts the service, since each takeover waits for the lease of the dead process.
 */
const MOST_CRASHES = 10;

/** The work is not started again, because processes died under it too often. Other attempts would not help. */
export class CrashedTooOften extends Error {
  override readonly name = 'CrashedTooOften';
}

/** The service is closing: another process will do the work. */
class ShuttingDown extends Error {
  override readonly name = 'ShuttingDown';
}

/** Gives up a slot while work waits for other work, so that another row can run. Waits for a free slot afterwards. */
export type Lend = <T>(wait: () => Promise<T>) => Promise<T>;

interface WorkerParts {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly log: Log;
  /** Number of rows to work on concurrently. */
  readonly slots: number;
  /** Does the work and records its end. Must watch the signal. */
  readonly work: (lease: Lease, signal: AbortSignal, lend: Lend) => Promise<void>;
  /** Records an attempt that threw. Not called if the lease was lost or the service is closing. */
  readonly fail: (lease: Lease, error: unknown) => Promise<void>;
  /** Called with an error that keeps this worker from working: rows may wait for ever. */
  readonly onStuck: (error: unknown) => void;
}

export interface LeaseWorker {
  /** Number of rows that it works on, how many it has taken over from processes that died, and whether its disk has room. */
  count(): { readonly running: number; readonly takenOver: number; readonly hasRoom: boolean };
  /** Looks for work now instead of at the next poll. */
  wake(): void;
  /** Drops a row that was cancelled in this process. */
  drop(id: string): void;
  /** Leases nothing more. Resolves when the running rows have ended, or when the signal aborts. */
  finish(signal: AbortSignal): Promise<void>;
  /** Stops everything and releases unfinished rows. */
  stop(): Promise<void>;
}

/** How often to look for retries and for rows of other processes, and to record the end of an attempt again. */
const POLL_MS = 1000;
/** How long work waits for a database or storage that is away, or for room: about as long as a server takes to start. */
const STORAGE_WAIT_MS = 5000;
/** How long a worker with a full disk takes nothing: longer than the work waits, so that others take it first. */
const FULL_MS = 6000;

/** Goes on with a row before another is begun. */
const FIRST = -1;

/** Work on one row. */
interface Attempt {
  /** Aborts when the lease is lost. */
  readonly lost: AbortController;
  readonly done: Promise<void>;
}

/** Starts a worker. */
export function startWorker(parts: WorkerParts): LeaseWorker {
  return new Worker(parts);
}

class Worker implements LeaseWorker {
  readonly #parts: WorkerParts;
  readonly #slots: PQueue;
  readonly #running = new Map<string, Attempt>();
  readonly #repeated: readonly Cancel[];
  readonly #finishing = new AbortController();
  readonly #stopping = new AbortController();
  readonly #loop: Promise<void>;
  readonly #searches: Repeats;
  readonly #attempts: Repeats;
  /** Whether there may be work that the last search did not see. */
  #isDue = false;
  #resume = () => {};
  /** Whether the next search includes rows whose lease has expired: not each one, because that reads all leased rows. */
  #takesOver = true;
  #takenOver = 0;
  #polledAt: number;
  /** No row is taken over before this time. */
  #calmAt = 0;
  /** While its disk is full, it takes nothing until this time; 0: there is room. */
  #fullUntil = 0;

  constructor(parts: WorkerParts) {
    const { clock, slots, onStuck } = parts;
    this.#parts = parts;
    this.#searches = createRepeats(onStuck);
    this.#attempts = createRepeats(onStuck);
    // A queue has at least one place; a worker without slots never starts its own.
    this.#slots = new PQueue({ concurrency: Math.max(1, slots), autoStart: slots > 0 });
    this.#polledAt = clock.now();
    this.#loop = this.#takeRows();
    this.#repeated = [
      repeatEvery(clock, POLL_MS, () => this.#poll()),
      repeatEvery(clock, RENEW_MS, () => void this.#renewAll()),
    ];
  }

  count() {
    return { running: this.#running.size, takenOver: this.#takenOver, hasRoom: this.#fullUntil === 0 };
  }

  wake(): void {
    this.#isDue = true;
    this.#resume();
  }

  drop(id: string): void {
    this.#running.get(id)?.lost.abort(new LeaseLost('cancelled'));
  }

  async finish(signal: AbortSignal): Promise<void> {
    this.#finishing.abort();
    this.wake();
    if (!signal.aborted) await Promise.race([this.#end(), once(signal, 'abort')]);
  }

  async stop(): Promise<void> {
    this.#finishing.abort();
    this.#stopping.abort(new ShuttingDown('the service closes'));
    this.wake();
    await this.#end();
    for (const cancel of this.#repeated) cancel();
  }

  async #end(): Promise<void> {
    // A row may have been leased in this moment.
    await this.#loop;
    await Promise.all(Array.from(this.#running.values(), ({ done }) => done));
  }

  /** Starts work on one row after another, whenever a slot is free, until the worker ends. Never throws. */
  async #takeRows(): Promise<void> {
    const { signal } = this.#finishing;
    for (;;) {
      const leave = await takeTurn(this.#slots, signal).catch(() => undefined);
      if (leave === undefined || signal.aborted) return leave?.();
      this.#isDue = false;
      // Work that was started leaves the slot.
      if (await this.#startNext(leave)) continue;
      leave();
      if (this.#isDue) continue;
      await new Promise<void>((resolve) => {
        this.#resume = resolve;
      });
    }
  }

  /** Returns false if there is no row. */
  async #startNext(leave: () => void): Promise<boolean> {
    const { leases, clock, log } = this.#parts;
    const now = clock.now();
    if (now < this.#fullUntil) return false;
    try {
      const lease = await leases.claim(now, this.#takesOver, [...this.#running.keys()]);
      this.#searches.succeeded();
      this.#takesOver &&= lease !== null && lease.takenFrom !== null;
      if (lease === null) return false;
      if (lease.takenFrom !== null) {
        this.#takenOver += 1;
        logTakeover(log, lease, lease.takenFrom);
      }
      this.#start(lease, leave);
      return true;
    } catch (error) {
      log({ level: 'error', message: 'looking for work failed; it is tried again', error });
      // While a row runs, the worker works; if its end cannot be recorded either, that counts.
      if (this.#running.size === 0) this.#searches.failed(error);
      return false;
    }
  }

  #start(lease: Lease, leave: () => void): void {
    const lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, this.#stopping.signal]);
    // It begins when it is counted as running.
    const done = Promise.resolve()
      .then(() => this.#run(lease, signal))
      .finally(() => {
        this.#running.delete(lease.id);
        leave();
        this.wake();
      });
    this.#running.set(lease.id, { lost, done });
  }

  /** Runs one attempt from lease to end. Never throws. */
  async #run(lease: Lease, signal: AbortSignal): Promise<void> {
    try {
      signal.throwIfAborted();
      if (lease.crashes >= MOST_CRASHES) throw new CrashedTooOften(`the service died ${lease.crashes} times`);
      await this.#parts.work(lease, signal, (wait) => this.#lend(wait, signal));
      this.#fullUntil = 0;
      this.#attempts.succeeded();
    } catch (error) {
      if (signal.reason instanceof LeaseLost) return;
      // Another row that runs may make room, or show that this one alone is to blame.
      if (isOfPlace(error) && this.#running.size === 1) this.#attempts.failed(error);
      if (error instanceof NoRoom && !error.isOfJob) this.#fullUntil = this.#parts.clock.now() + FULL_MS;
      await this.#insist(lease, signal, () => this.#recordEnd(lease, signal, error));
    }
  }

  async #lend<T>(wait: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#slots.concurrency += 1;
    const end = async () => {
      this.#slots.concurrency -= 1;
    };
    try {
      return await wait();
    } finally {
      // Work that is stopped does not wait for a slot.
      await inTurn(this.#slots, signal, end, FIRST).catch(end);
    }
  }

  #recordEnd(lease: Lease, { reason }: AbortSignal, error: unknown): Promise<void> {
    const { leases, clock, log, fail } = this.#parts;
    if (reason instanceof ShuttingDown) return leases.release(lease.id, { runAfter: 0, counted: false });
    if (!isAway(error)) return fail(lease, error);
    const message = `this waits, and the attempt does not count: ${error.message}`;
    log({ level: 'warn', message, resourceId: lease.id });
    return leases.release(lease.id, { runAfter: clock.now() + STORAGE_WAIT_MS, counted: false });
  }

  /** Records the end of an attempt again while the store is full or away: else this process would hold the row and do nothing. */
  async #insist({ id }: Lease, signal: AbortSignal, record: () => Promise<void>): Promise<void> {
    const repeats = createRepeats(this.#parts.onStuck);
    for (;;) {
      try {
        return await record();
      } catch (error) {
        repeats.failed(error);
        const message = 'the end of an attempt was not recorded; it is tried again';
        this.#parts.log({ level: 'error', message, resourceId: id, error });
      }
      // After the end of this process its lease expires, and another takes the row.
      if (signal.aborted) return;
      await sleepFor(this.#parts.clock, POLL_MS, signal);
      if (signal.reason instanceof LeaseLost) return;
    }
  }

  #poll(): void {
    const now = this.#parts.clock.now();
    // The machine was suspended, and all leases expired in the meantime: give their owners time to renew them.
    if (now - this.#polledAt > LEASE_MS) this.#calmAt = now + 2 * RENEW_MS;
    this.#polledAt = now;
    this.#takesOver = now >= this.#calmAt;
    this.wake();
  }

  /** Never throws. */
  async #renewAll(): Promise<void> {
    const { leases, clock, log } = this.#parts;
    const rows = [...this.#running];
    try {
      const held = await leases.renew(
        Array.from(rows, ([id]) => id),
        clock.now(),
      );
      for (const [id, { lost }] of rows)
        if (!held.has(id)) lost.abort(new LeaseLost('cancelled or taken over'));
    } catch (error) {
      // A busy store recovers. If not, the leases expire and another process takes over.
      log({ level: 'warn', message: 'leases were not renewed', error });
    }
  }
}

/** The database or the storage cannot be used now, whatever the row. */
function isAway(error: unknown): error is StorageAway | DatabaseAway {
  return (
    error instanceof DatabaseAway ||
    (error instanceof StorageAway && !(error instanceof NoRoom && error.isOfJob))
  );
}

/** Not the fault of the row: the next one would meet the same. */
function isOfPlace(error: unknown): boolean {
  return isAway(error) || sqliteCode(error) !== null;
}

function logTakeover(log: Log, { id, crashes }: Lease, takenFrom: string): void {
  const message = `the process ${describeOwner(takenFrom)} died or was cut off while it worked on this; it is started again, and the attempt does not count (${crashes} of at most ${MOST_CRASHES} times)`;
  log({ level: 'warn', message, resourceId: id });
}

/** 2 s, then 4 s: long enough for a temporary shortage of memory, short enough to be unnoticed. */
const FIRST_DELAY_MS = 2000;

/** Returns the delay before the next attempt. `attempt` is the failed one, from 1. */
export function retryDelayMs(attempt: number): number {
  return FIRST_DELAY_MS * 2 ** (attempt - 1);
}
