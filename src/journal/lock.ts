/** Lock files: one holder at a time, across processes; the lock of a dead holder can be taken over. Source: reliability, 2.5. */

import { randomUUID } from 'node:crypto';
import { link, open, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode, onDisk } from '../errors/system-error.ts';
import {
  type Holder,
  type HolderState,
  judgeHolder,
  type Machine,
  parseHolder,
  thisMachine,
} from './machine.ts';
import { makePrivateFolder } from './private-folder.ts';

interface LockFile {
  /** Null when the content is not that of a lock. */
  readonly holder: Holder | null;
  readonly text: string;
  /** The last heartbeat, in milliseconds since the epoch. */
  readonly beatMs: number;
}

/** Null when there is none. */
export async function readLockFile(path: string): Promise<LockFile | null> {
  try {
    const handle = await open(path, 'r');
    try {
      const text = await handle.readFile('utf8');
      return { text, holder: parseHolder(text), beatMs: (await handle.stat()).mtimeMs };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Hidden, and named after its holder, so that a dead one can be recognized and removed. */
function draftPath(path: string, token: string): string {
  return join(dirname(path), `.${basename(path)}.${token}`);
}

/** File systems without hard links (exFAT, many network shares) answer with one of these. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EMLINK']);

/** Makes the lock file unless there is one; true if it did. */
async function createLockFile(path: string, own: Holder): Promise<boolean> {
  const draft = draftPath(path, own.token);
  await writeDraft(draft, own);
  try {
    // A link has its content from the first moment on, and like O_EXCL fails if the name is taken.
    await link(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (!NO_LINKS.has(errorCode(error))) throw error;
    return createWithoutLink(path, own);
  } finally {
    await rm(draft, { force: true });
  }
}

async function createWithoutLink(path: string, own: Holder): Promise<boolean> {
  try {
    await writeDraft(path, own);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Replaces a dead lock by the own one. The caller must hold the takeover lock. */
async function replaceLockFile(path: string, own: Holder): Promise<void> {
  const draft = draftPath(path, own.token);
  await writeDraft(draft, own);
  await rename(draft, path);
}

function writeDraft(path: string, own: Holder): Promise<void> {
  return writeFile(path, JSON.stringify(own), { mode: 0o600, flag: 'wx' });
}

/** Removes the lock file if it is still the holder's own. */
async function removeLockFile(path: string, own: Holder): Promise<void> {
  const found = await readLockFile(path);
  if (found?.holder?.token === own.token) await rm(path, { force: true });
}

/** True if the lock has not changed since: same holder, no heartbeat. */
async function isUnchanged(path: string, seen: LockFile): Promise<boolean> {
  const now = await readLockFile(path);
  return now !== null && now.text === seen.text && now.beatMs === seen.beatMs;
}

export interface Lock {
  /** Gives it back; a second time does nothing. */
  release(): Promise<void>;
  /** Aborted when a heartbeat finds that the lock is not this holder's any more, as after a long standstill. */
  readonly lost: AbortSignal;
  /** Reads the file to check that this holder still has the lock. */
  isHeld(): Promise<boolean>;
}

export type LockAttempt = { readonly taken: true; readonly lock: Lock } | LockRefused;

export interface LockRefused {
  readonly taken: false;
  /** Null when the lock file does not say whose it is. */
  readonly holder: Holder | null;
  readonly isElsewhere: boolean;
  /** How much longer the file must not change until its holder counts as dead; null when the holder is known to run. */
  readonly judgedInMs: number | null;
}

/** Clock, timers and machine, passed in so that tests can replace them. */
export interface LockEnvironment {
  readonly machine: Machine;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a monotonic clock. */
  elapsed(): number;
  sleep(ms: number): Promise<void>;
  /** Repeats the work without keeping the process alive; returns a function that stops it. */
  repeat(ms: number, work: () => void): () => void;
}

export const SYSTEM: LockEnvironment = {
  machine: thisMachine(),
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: async (ms) => {
    await delay(ms);
  },
  repeat(ms, work) {
    const timer = setInterval(work, ms).unref();
    return () => clearInterval(timer);
  },
};

/** A heartbeat changes one file time: at this interval even fifteen locks cost nothing noticeable. */
const HEARTBEAT_MS = 5_000;
/** Six beats missed: more than a busy machine or a slow disk holds a process up. */
const SILENCE_MS = 6 * HEARTBEAT_MS;
/** A machine that just woke up shows old beats of running processes; one beat later it does not. */
const SECOND_LOOK_MS = HEARTBEAT_MS + 1_000;
/** Two beats, for a holder on another machine: a network share may show the first one late. */
const LOOK_ELSEWHERE_MS = 2 * HEARTBEAT_MS + 1_000;
/** Clocks of maintained machines differ by minutes at most; an hour without a heartbeat is not a clock difference. */
const SILENCE_ELSEWHERE_MS = 3_600_000;
/** Without help of the clocks: twelve beats missed. Network shares show changes within a minute (NFS: acregmax 60 s). */
const WATCH_ELSEWHERE_MS = 12 * HEARTBEAT_MS;

/** Since when lock files have not changed, as seen by one waiter. */
export type Watched = Map<string, { readonly seen: LockFile; readonly since: number }>;

/**
 * Takes the lock if it is free or its holder is dead. Does not wait, but for a few seconds where only the silence of its
 * heartbeat tells that a holder died.
 * @param path the lock file; its folder is made if need be
 * @throws Failure (`disk`)
 */
export async function tryLock(path: string, around: LockEnvironment = SYSTEM): Promise<LockAttempt> {
  const watched: Watched = new Map();
  let attempt = await attemptLock(path, watched, around);
  const first = watched.get(path)?.since;
  // A change is a heartbeat, and a holder whose heartbeat is fresh is not watched for a minute before it is named.
  while (!attempt.taken && attempt.judgedInMs !== null && attempt.judgedInMs <= LOOK_ELSEWHERE_MS) {
    await around.sleep(attempt.judgedInMs);
    attempt = await attemptLock(path, watched, around);
    if (watched.get(path)?.since !== first) return attempt;
  }
  return attempt;
}

/**
 * The same without any wait, for callers that come again. A holder of which nothing else is known is dead once its
 * heartbeat has stood still for long enough while it was watched: the clocks of two machines need not agree.
 * @param watched what this caller has seen so far, which is brought up to date
 */
export function attemptLock(
  path: string,
  watched: Watched,
  around: LockEnvironment = SYSTEM,
): Promise<LockAttempt> {
  return onDisk(path, async () => {
    await makePrivateFolder(dirname(path));
    const own = describeSelf(around);
    for (;;) {
      const found = await readLockFile(path);
      if (found === null) {
        watched.delete(path);
        if (await createLockFile(path, own)) return { taken: true, lock: createLock(path, own, around) };
        continue;
      }
      const verdict = judgeFile(found, around);
      const judgedInMs = timeToJudge(path, found, verdict, watched, around);
      if (judgedInMs === null || judgedInMs > 0) {
        return { taken: false, holder: found.holder, isElsewhere: verdict === 'elsewhere', judgedInMs };
      }
      const takeOver = await tryTakeOver(path, found, own, watched, around);
      if (takeOver !== null) return takeOver;
    }
  });
}

function describeSelf({ machine, now }: LockEnvironment): Holder {
  const { pid, boot, host, pid_space, folder } = machine;
  const self = machine.look(pid);
  const started = self.state === 'running' ? self.started : null;
  const since = new Date(now()).toISOString();
  return { pid, started, boot, host, pid_space, token: randomUUID(), since, folder };
}

function judgeFile(found: LockFile, { machine }: LockEnvironment): HolderState {
  return found.holder === null ? 'unclear' : judgeHolder(found.holder, machine);
}

/** Null when the holder runs, 0 when it is dead, else how much longer its silence must last. */
function timeToJudge(
  path: string,
  found: LockFile,
  verdict: HolderState,
  watched: Watched,
  around: LockEnvironment,
): number | null {
  if (verdict === 'running') return null;
  if (verdict === 'gone') return 0;
  const before = watched.get(path);
  const isSame =
    before !== undefined && before.seen.text === found.text && before.seen.beatMs === found.beatMs;
  const since = isSame ? before.since : around.elapsed();
  watched.set(path, { seen: found, since });
  return Math.max(0, since + silenceNeeded(verdict, around.now() - found.beatMs) - around.elapsed());
}

/** How long a file must stay unchanged under our eyes. @param ageMs of the last heartbeat, if both clocks are right */
function silenceNeeded(verdict: 'unclear' | 'elsewhere', ageMs: number): number {
  if (verdict === 'unclear') return ageMs >= SILENCE_MS ? SECOND_LOOK_MS : SILENCE_MS + SECOND_LOOK_MS;
  return ageMs >= SILENCE_ELSEWHERE_MS ? LOOK_ELSEWHERE_MS : WATCH_ELSEWHERE_MS;
}

/** A lock file as `vloc doctor` shows it. */
export interface LockState {
  readonly holder: Holder | null;
  /** The last heartbeat, in milliseconds since the epoch. */
  readonly beatMs: number;
  readonly isStale: boolean;
}

/**
 * Looks at a lock without taking it; null when there is none. Of a holder that cannot be asked the age of the heartbeat
 * decides, which is good enough to show it, and not to take its lock away.
 */
export async function inspectLock(path: string, around: LockEnvironment = SYSTEM): Promise<LockState | null> {
  const found = await onDisk(path, () => readLockFile(path));
  if (found === null) return null;
  const { holder, beatMs } = found;
  const verdict = judgeFile(found, around);
  const ageMs = around.now() - beatMs;
  const limit = verdict === 'elsewhere' ? SILENCE_ELSEWHERE_MS : SILENCE_MS;
  return { holder, beatMs, isStale: verdict === 'gone' || (verdict !== 'running' && ageMs >= limit) };
}

/**
 * Replaces a dead lock while holding a second lock, after checking it once more: two processes cannot both succeed.
 * @returns null when the lock is not the one that was found any more
 */
async function tryTakeOver(
  path: string,
  dead: LockFile,
  own: Holder,
  watched: Watched,
  around: LockEnvironment,
): Promise<LockAttempt | null> {
  const right = await attemptLock(`${path}.takeover`, watched, around);
  if (!right.taken) return right;
  try {
    if (!(await isUnchanged(path, dead))) return null;
    await replaceLockFile(path, own);
    watched.delete(path);
    if (dead.holder !== null) await rm(draftPath(path, dead.holder.token), { force: true });
    return { taken: true, lock: createLock(path, own, around) };
  } finally {
    await right.lock.release();
  }
}

function createLock(path: string, own: Holder, around: LockEnvironment): Lock {
  const lost = new AbortController();
  let released: Promise<void> | null = null;
  const isHeld = async () => (await readLockFile(path))?.holder?.token === own.token;
  const beat = async () => {
    if (await isHeld()) {
      const now = new Date();
      await utimes(path, now, now);
    } else if (released === null) {
      // Taken over while this process stood still: the heartbeat of the new holder is its own business.
      stop();
      lost.abort();
    }
  };
  // A beat that fails is like one that comes late: others act only after several missed ones.
  const stop = around.repeat(HEARTBEAT_MS, () => void beat().catch(() => undefined));
  return {
    lost: lost.signal,
    isHeld: () => onDisk(path, isHeld),
    release() {
      stop();
      released ??= onDisk(path, () => removeLockFile(path, own));
      return released;
    },
  };
}
