/** Slots for jobs, shared by all vloc processes of a profile on this machine. Source: specification, "Limits". */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk } from '../errors/system-error.ts';
import { nameProcess, type WaitAttempt, waitFor } from './hold.ts';
import {
  attemptLock,
  type Lock,
  type LockEnvironment,
  type LockRefused,
  SYSTEM,
  type Watched,
} from './lock.ts';
import { inStateFolder, makePrivateFolder } from './private-folder.ts';
import { createTaskQueue } from './task-queue.ts';

export interface Slots {
  /**
   * Waits for a free slot: in order of calls within this process, in random order between processes.
   * The slot of a dead process is free again within a second, or within a minute if it ran on another machine.
   * @throws the reason of the signal; Failure (`disk`)
   */
  acquire(signal?: AbortSignal): Promise<Lock>;
}

export const SLOT_NAME = /^slot-\d+$/;

/** Longer waits are explained to the user. */
const QUIET_MS = 10_000;

/**
 * @param folder of the profile, the same for all its processes
 * @param count number of slots
 * @param warn receives the holders of the slots when the wait is long, and again when they change
 */
export function openSlots(
  folder: string,
  count: number,
  warn: (text: string) => void = () => undefined,
  around: LockEnvironment = SYSTEM,
): Slots {
  const inTurn = createTaskQueue();
  const names = Array.from({ length: count }, (_, index) => `slot-${index + 1}`);
  /** Slots held by this process. */
  const own = new Set<string>();
  const watched: Watched = new Map();
  let warnedOf = '';

  async function tryAny(waitsSince: number): Promise<WaitAttempt> {
    const there = new Set(await listNames(folder));
    const isFree = (name: string) => !there.has(name);
    // A taken slot may belong to a dead process, but checking that costs more than taking a free one.
    const others = names.filter((name) => there.has(name) && !own.has(name));
    const refusals: LockRefused[] = [];
    for (const name of [...names.filter(isFree), ...others]) {
      const attempt = await attemptLock(join(folder, name), watched, around);
      if (attempt.taken) return { taken: true, lock: keepTrack(name, attempt.lock) };
      refusals.push(attempt);
    }
    if (around.elapsed() - waitsSince >= QUIET_MS) warnOf(refusals);
    return { taken: false };
  }

  /** Excludes the slots of this process, whose jobs are displayed anyway. */
  function warnOf(refusals: readonly LockRefused[]): void {
    const groups = Map.groupBy(refusals, ({ holder }) =>
      holder === null ? 'another process' : nameProcess(holder),
    );
    const who = [...groups.keys()].toSorted().join('; ');
    if (groups.size === 0 || who === warnedOf) return;
    warnedOf = who;
    warn(describeWait(groups, count));
  }

  function keepTrack(name: string, lock: Lock): Lock {
    own.add(name);
    return {
      ...lock,
      release() {
        own.delete(name);
        return lock.release();
      },
    };
  }

  const isSlot = (name: string) => SLOT_NAME.test(name);
  return {
    acquire(signal) {
      const slot = inStateFolder(() =>
        inTurn(() => {
          const since = around.elapsed();
          return waitFor(folder, isSlot, signal, () => tryAny(since));
        }),
      );
      return signal === undefined ? slot : giveUpOnAbort(slot, signal);
    },
  };
}

function describeWait(groups: ReadonlyMap<string, readonly LockRefused[]>, count: number): string {
  const held = [...groups].map(([name, slots]) => {
    const since = slots.flatMap(({ holder }) => (holder === null ? [] : [holder.since])).toSorted()[0];
    return `${slots.length} by ${name}${since === undefined ? '' : `, since ${since}`}`;
  });
  const isUncertain = [...groups.values()].flat().some(({ judgedInMs }) => judgedInMs !== null);
  const advice = isUncertain
    ? 'A slot is taken over after a minute without a heartbeat.'
    : 'Wait for one of their jobs to end, or end that process: its jobs continue at the service.';
  return `waiting for a free slot; of ${count}, others hold ${held.join('; ')}. ${advice} \`vloc doctor\` lists them.`;
}

function listNames(folder: string): Promise<string[]> {
  return onDisk(folder, async () => {
    await makePrivateFolder(folder);
    return readdir(folder);
  });
}

/** Rejects immediately on abort, even if others wait before it. A slot that is taken afterwards is released. */
async function giveUpOnAbort(slot: Promise<Lock>, signal: AbortSignal): Promise<Lock> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    if (signal.aborted) onAbort();
    return await Promise.race([slot, aborted]);
  } catch (error) {
    slot.then((late) => late.release()).catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
