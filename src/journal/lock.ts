/** One holder at a time, across processes; a holder that died holds nothing. Source: reliability, 2.5. */
import { randomUUID } from 'node:crypto';
import { rm, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onDisk } from './failure.ts';
import {
  createLockFile,
  draftPath,
  isUnchanged,
  type LockFile,
  readLockFile,
  removeLockFile,
  replaceLockFile,
} from './lock-file.ts';
import { type Holder, judgeHolder, type Machine, thisMachine, type Verdict } from './machine.ts';
import { makePrivateFolder } from './private-folder.ts';

export interface Lock {
  /** Gives it back; a second time does nothing. */
  release(): Promise<void>;
}

export type LockAttempt =
  | { readonly taken: true; readonly lock: Lock }
  /** `holder` is null when the lock file does not say whose it is. */
  | { readonly taken: false; readonly holder: Holder | null; readonly isElsewhere: boolean };

/** What a lock needs to know of the world. */
export interface Surroundings {
  readonly machine: Machine;
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

export const SYSTEM: Surroundings = {
  machine: thisMachine(),
  now: () => Date.now(),
  sleep: async (ms) => {
    await delay(ms);
  },
};

/** A beat is one change of a file time: at this pace not even fifteen locks are noticed. */
const HEARTBEAT_MS = 5_000;
/** Six beats missed: more than a busy machine or a slow disk holds a process up. */
const SILENCE_MS = 6 * HEARTBEAT_MS;
/** A machine that just woke up shows old beats of running processes; one beat later it does not. */
const SECOND_LOOK_MS = HEARTBEAT_MS + 1_000;

/**
 * Takes the lock if it is free or its holder is dead. Does not wait, but for a second look of six seconds where the
 * system does not tell whether a silent holder still runs.
 * @param path the lock file; its folder is made if need be
 * @throws JournalFailure (`disk`)
 */
export function tryLock(path: string, around: Surroundings = SYSTEM): Promise<LockAttempt> {
  return onDisk(path, async () => {
    await makePrivateFolder(dirname(path));
    const own = describeSelf(around);
    for (;;) {
      const found = await readLockFile(path);
      if (found === null) {
        if (await createLockFile(path, own)) return { taken: true, lock: createLock(path, own) };
        continue;
      }
      const verdict = await judgeFile(path, found, around);
      if (verdict !== 'gone') return refusal(found, verdict);
      const takeOver = await tryTakeOver(path, found, own, around);
      if (takeOver !== null) return takeOver;
    }
  });
}

function describeSelf({ machine, now }: Surroundings): Holder {
  const { pid, boot, host, pid_space } = machine;
  const self = machine.look(pid);
  const started = self.state === 'running' ? self.started : null;
  return { pid, started, boot, host, pid_space, token: randomUUID(), since: new Date(now()).toISOString() };
}

function refusal({ holder }: LockFile, verdict: Verdict): LockAttempt {
  return { taken: false, holder, isElsewhere: verdict === 'elsewhere' };
}

async function judgeFile(path: string, found: LockFile, around: Surroundings): Promise<Verdict> {
  const verdict = found.holder === null ? 'unclear' : judgeHolder(found.holder, around.machine);
  if (verdict !== 'unclear' || around.now() - found.beatMs < SILENCE_MS) return verdict;
  await around.sleep(SECOND_LOOK_MS);
  return (await isUnchanged(path, found)) ? 'gone' : 'unclear';
}

/**
 * Only who holds the lock on taking over may replace a dead lock, and looks once more before that: two takers cannot both win.
 * @returns null when the lock is not the one that was found any more
 */
async function tryTakeOver(
  path: string,
  dead: LockFile,
  own: Holder,
  around: Surroundings,
): Promise<LockAttempt | null> {
  const right = await tryLock(`${path}.takeover`, around);
  if (!right.taken) return right;
  try {
    if (!(await isUnchanged(path, dead))) return null;
    await replaceLockFile(path, own);
    if (dead.holder !== null) await rm(draftPath(path, dead.holder.token), { force: true });
    return { taken: true, lock: createLock(path, own) };
  } finally {
    await right.lock.release();
  }
}

function createLock(path: string, own: Holder): Lock {
  const beat = () => {
    const now = new Date();
    // A beat that fails is like one that comes late: several must be missed before anybody asks.
    utimes(path, now, now).catch(() => undefined);
  };
  const heart = setInterval(beat, HEARTBEAT_MS).unref();
  let released: Promise<void> | null = null;
  return {
    release() {
      clearInterval(heart);
      released ??= onDisk(path, () => removeLockFile(path, own));
      return released;
    },
  };
}
