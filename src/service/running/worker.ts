/** Works on a limited number of leased rows concurrently, and stops immediately when a lease is lost. */
import { type Cancel, type Clock, repeat, sleep } from '../clock.ts';
import type { Log } from '../log.ts';
import { NoRoom, StorageAway } from '../storage/storage.ts';
import { DatabaseAway } from '../store/store.ts';
import { describeOwner, LEASE_MS, type Lease, type Leases, RENEW_MS } from './leases.ts';

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

/** How often to look for retries and for rows of other processes. */
const POLL_MS = 1000;

/** Starts a worker. */
export function startWorker(parts: WorkerParts): LeaseWorker {
  const { leases, clock, log, slots } = parts;
  const running = new Map<string, { controller: AbortController; done: Promise<void> }>();
  /** Ends of attempts that could not be stored yet, by row id. They are retried. */
  const unrecorded = new Map<string, () => Promise<void>>();
  let recording: Promise<void> | null = null;
  /** Rows whose work has given up its slot. */
  let lent = 0;
  /** Takes back a slot for each row that has finished waiting. */
  const returning: (() => void)[] = [];
  /** The search for work. There is one at a time, because two would lease more rows than there are slots. */
  let searching: Promise<void> | null = null;
  let isSearching = false;
  /** Whether to look again when the search ends, because there may be work that it did not see. */
  let wanted = false;
  /** Whether a slot is kept for a row that is being leased. */
  let claiming = false;
  let finishing = false;
  let stopping = false;
  let takenOver = 0;
  let lastPoll = clock.now();
  let calmAt = 0;
  /** While its disk is full, it takes nothing until this time: others may have room. */
  let fullUntil = 0;
  let fullMs = 0;

  const hasFreeSlot = () => running.size - lent + (claiming ? 1 : 0) < slots;
  const giveBackSlots = () => {
    while (returning.length > 0 && hasFreeSlot()) returning.shift()?.();
  };

  const wake = () => {
    giveBackSlots();
    wanted = true;
    if (!isSearching) searching = search();
  };

  /** Leases rows until there is no slot or no row left. Never throws. */
  const search = async () => {
    isSearching = true;
    while (wanted && !stopping) {
      wanted = false;
      try {
        while (await claimNext()) giveBackSlots();
      } catch (error) {
        log({ level: 'error', message: 'looking for work failed; it is tried again', error });
      }
      giveBackSlots();
    }
    // In the same step as the last look at `wanted`: what comes later begins another search.
    isSearching = false;
  };

  /** Returns false if there was no slot or no row. */
  const claimNext = async (): Promise<boolean> => {
    const now = clock.now();
    if (stopping || finishing || !hasFreeSlot() || now < fullUntil) return false;
    claiming = true;
    try {
      const lease = await leases.claim(now, now >= calmAt, [...running.keys(), ...unrecorded.keys()]);
      if (lease === null) return false;
      if (lease.takenFrom !== null) {
        takenOver += 1;
        tellTakeover(log, lease, lease.takenFrom);
      }
      begin(lease);
      return true;
    } finally {
      claiming = false;
    }
  };

  const lendFor =
    (signal: AbortSignal): Lend =>
    async (wait) => {
      lent += 1;
      wake();
      try {
        return await wait();
      } finally {
        await takeBack(signal);
      }
    };

  const takeBack = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const take = () => {
        lent -= 1;
        signal.removeEventListener('abort', stopWaiting);
        resolve();
      };
      // Work that is stopped has only to end.
      const stopWaiting = () => {
        returning.splice(returning.indexOf(take), 1);
        take();
      };
      returning.push(take);
      if (signal.aborted) stopWaiting();
      else signal.addEventListener('abort', stopWaiting, { once: true });
      wake();
    });

  const begin = (lease: Lease) => {
    const controller = new AbortController();
    const lend = lendFor(controller.signal);
    const putOff = (record: () => Promise<void>) => unrecorded.set(lease.id, record);
    const tellRoom = (hasRoom: boolean) => {
      fullMs = hasRoom ? 0 : Math.min(2 * fullMs || FIRST_FULL_MS, MOST_FULL_MS);
      fullUntil = hasRoom ? 0 : clock.now() + fullMs;
    };
    // It begins when it is counted as running.
    const begun = Promise.resolve().then(() => run(parts, lease, { controller, lend, putOff, tellRoom }));
    const done = begun.finally(() => {
      running.delete(lease.id);
      wake();
    });
    running.set(lease.id, { controller, done });
  };

  const poll = () => {
    const now = clock.now();
    // The machine was suspended, and all leases expired in the meantime: give their owners time to renew them.
    if (now - lastPoll > LEASE_MS) calmAt = now + 2 * RENEW_MS;
    lastPoll = now;
    if (unrecorded.size > 0) recording ??= recordAgain().finally(endRecording);
    wake();
  };
  const endRecording = () => {
    recording = null;
    // The row may be tried again immediately.
    wake();
  };

  /** Never throws. */
  const recordAgain = async () => {
    for (const [id, record] of unrecorded) {
      try {
        await record();
        unrecorded.delete(id);
      } catch (error) {
        log({ level: 'warn', message: 'the end of an attempt is still not recorded', resourceId: id, error });
        return;
      }
    }
  };
  const abortAll = () => {
    for (const { controller } of running.values()) controller.abort(new ShuttingDown('the service closes'));
  };
  /** Never throws. */
  const renewAll = async () => {
    const rows = [...running];
    try {
      const held = await leases.renew(
        Array.from(rows, ([id]) => id),
        clock.now(),
      );
      for (const [id, { controller }] of rows)
        if (!held.has(id)) controller.abort(new LeaseLost('cancelled or taken over'));
    } catch (error) {
      // A busy store recovers. If not, the leases expire and another process takes over.
      log({ level: 'warn', message: 'leases were not renewed', error });
    }
  };
  const stopPolling: Cancel = repeat(clock, POLL_MS, poll);
  const stopRenewing: Cancel = repeat(clock, RENEW_MS, () => void renewAll());
  wake();
  return {
    count: () => ({ running: running.size, takenOver, hasRoom: fullMs === 0 }),
    wake,
    drop: (id) => running.get(id)?.controller.abort(new LeaseLost('cancelled')),
    async finish(signal) {
      finishing = true;
      // During a search, a row may be leased in this moment.
      while (!signal.aborted && (isSearching || running.size > 0 || unrecorded.size > 0)) {
        const ends = Array.from(running.values(), ({ done }) => done);
        await Promise.race([sleep(clock, POLL_MS, signal), ...ends]);
      }
    },
    async stop() {
      stopping = true;
      stopPolling();
      abortAll();
      // A row may have been leased in this moment.
      await Promise.all([searching, recording]);
      abortAll();
      await Promise.all(Array.from(running.values(), ({ done }) => done));
      stopRenewing();
    },
  };
}

interface Attempt {
  readonly controller: AbortController;
  readonly lend: Lend;
  /** Stores the end later if the store is full or busy. Without it, this process would hold the row and do nothing. */
  readonly putOff: (record: () => Promise<void>) => void;
  /** Says whether the disk had room for the attempt. */
  readonly tellRoom: (hasRoom: boolean) => void;
}

/** Runs one attempt from lease to end. Never throws. */
async function run(
  parts: WorkerParts,
  lease: Lease,
  { controller, lend, putOff, tellRoom }: Attempt,
): Promise<void> {
  const { leases, clock, log, work, fail } = parts;
  try {
    if (lease.crashes >= MOST_CRASHES) throw new CrashedTooOften(`the service died ${lease.crashes} times`);
    await work(lease, controller.signal, lend);
    tellRoom(true);
  } catch (error) {
    const { reason } = controller.signal;
    if (reason instanceof LeaseLost) return;
    if (error instanceof NoRoom && !error.isOfJob) tellRoom(false);
    const record = () => {
      if (reason instanceof ShuttingDown) return leases.release(lease.id, { runAfter: 0, counted: false });
      const isAway = error instanceof StorageAway || error instanceof DatabaseAway;
      if (!isAway || (error instanceof NoRoom && error.isOfJob)) return fail(lease, error);
      log({
        level: 'warn',
        message: `this waits, and the attempt does not count: ${error.message}`,
        resourceId: lease.id,
      });
      return leases.release(lease.id, { runAfter: clock.now() + STORAGE_WAIT_MS, counted: false });
    };
    try {
      await record();
    } catch (second) {
      const message = 'the end of an attempt was not recorded; it is tried again';
      log({ level: 'error', message, resourceId: lease.id, error: second });
      putOff(record);
    }
  }
}

/** How long work waits for a database or storage that is away, or for room: about as long as a server takes to start. */
const STORAGE_WAIT_MS = 5000;
/** A worker with a full disk tries again after 5 s, then twice as long each time, so that others take the work. */
const FIRST_FULL_MS = 5000;
/** Somebody who has made room sees soon that work goes on. */
const MOST_FULL_MS = 15_000;

function tellTakeover(log: Log, { id, crashes }: Lease, takenFrom: string): void {
  const message = `the process ${describeOwner(takenFrom)} died or was cut off while it worked on this; it is started again, and the attempt does not count (${crashes} of at most ${MOST_CRASHES} times)`;
  log({ level: 'warn', message, resourceId: id });
}

/** 2 s, then 4 s: long enough for a temporary shortage of memory, short enough to be unnoticed. */
const FIRST_DELAY_MS = 2000;

/** Returns the delay before the next attempt. `attempt` is the failed one, from 1. */
export function retryDelayMs(attempt: number): number {
  return FIRST_DELAY_MS * 2 ** (attempt - 1);
}
