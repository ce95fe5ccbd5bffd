/** A number of places that all vloc processes of a profile on this machine share. Source: specification, "Limits". */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inStateFolder, onDisk } from './failure.ts';
import { waitFor } from './hold.ts';
import { type Lock, type LockAttempt, type Surroundings, SYSTEM, tryLock } from './lock.ts';
import { makePrivateFolder } from './private-folder.ts';
import { createTurns } from './turns.ts';

export interface Slots {
  /**
   * Waits for a free slot: first come, first served within this process, and by chance between processes.
   * The slot of a process that died is free again within a second.
   * @throws the reason of the signal; JournalFailure (`disk`)
   */
  acquire(signal?: AbortSignal): Promise<Lock>;
}

const SLOT_NAME = /^slot-\d+$/;

/** @param folder of the profile, the same for all its processes  @param count how many may be held at a time */
export function openSlots(folder: string, count: number, around: Surroundings = SYSTEM): Slots {
  const inTurn = createTurns();
  const names = Array.from({ length: count }, (_, index) => `slot-${index + 1}`);
  /** Those of this process: nobody has to look whether they are still held. */
  const own = new Set<string>();

  async function tryAny(): Promise<LockAttempt> {
    const there = new Set(await listNames(folder));
    const isFree = (name: string) => !there.has(name);
    // Of those that are taken, one may be a dead process's; to find that out costs more than to take a free one.
    const others = names.filter((name) => there.has(name) && !own.has(name));
    for (const name of [...names.filter(isFree), ...others]) {
      const attempt = await tryLock(join(folder, name), around);
      if (attempt.taken) return { taken: true, lock: keepTrack(name, attempt.lock) };
    }
    return { taken: false, holder: null, isElsewhere: false };
  }

  function keepTrack(name: string, lock: Lock): Lock {
    own.add(name);
    return {
      release() {
        own.delete(name);
        return lock.release();
      },
    };
  }

  const isSlot = (name: string) => SLOT_NAME.test(name);
  return {
    acquire(signal) {
      const slot = inStateFolder(() => inTurn(() => waitFor(folder, isSlot, signal, tryAny)));
      return signal === undefined ? slot : giveUpOnAbort(slot, signal);
    },
  };
}

function listNames(folder: string): Promise<string[]> {
  return onDisk(folder, async () => {
    await makePrivateFolder(folder);
    return readdir(folder);
  });
}

/** Who waits behind others must not have to wait for them to give up. A slot that still comes is given back. */
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
