/** Lock files: one holder at a time across processes. The lock of a dead holder can be taken over. Source: reliability, 2.5. */

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, open, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode, fileSystemFailure, onDisk } from '../../base/system-error.ts';
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

/** Reads a lock file; null if it does not exist. */
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

/** Error codes of file systems without hard links (exFAT, many network shares). */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EMLINK']);

/** Creates the lock file; false if it already exists. */
async function createLockFile(path: string, own: Holder): Promise<boolean> {
  const draft = draftPath(path, own.token);
  try {
    await writeDraft(draft, own);
    // A link has its content from the start, and fails like O_EXCL if the name exists.
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

/** Replaces the lock of a dead holder with our own. The caller must hold the takeover lock. */
async function replaceLockFile(path: string, own: Holder): Promise<void> {
  const draft = draftPath(path, own.token);
  await writeDraft(draft, own);
  await rename(draft, path);
}

function writeDraft(path: string, own: Holder): Promise<void> {
  return writeFile(path, JSON.stringify(own), { mode: 0o600, flag: 'wx' });
}

/** Removes the lock file if it still belongs to this holder. */
async function removeLockFile(path: string, own: Holder): Promise<void> {
  const found = await readLockFile(path);
  if (found?.holder?.token === own.token) await rm(path, { force: true });
}

/** Same holder, and no heartbeat between them. */
function isUnchanged(one: LockFile, other: LockFile): boolean {
  return one.text === other.text && one.beatMs === other.beatMs;
}

export interface Lock {
  /** Releases the lock. Calling it again does nothing. */
  release(): Promise<void>;
  /** Aborted when a heartbeat finds that another process took the lock over, for example while this one was suspended. */
  readonly lost: AbortSignal;
  /** Reads the file to check that this holder still has the lock. @throws Failure (`disk`) */
  isHeld(): boolean;
}

export type LockAttempt = { readonly taken: true; readonly lock: Lock } | LockRefused;

export interface LockRefused {
  readonly taken: false;
  /** Null if the lock file is damaged. */
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

/** A heartbeat updates one file time: at this interval even fifteen locks cost next to nothing. */
const HEARTBEAT_MS = 5_000;
/** Six missed beats: longer than a busy machine or a slow disk delays a process. */
const SILENCE_MS = 6 * HEARTBEAT_MS;
/** Right after a machine wakes up, running processes have old heartbeats; one beat later they do not. */
const SECOND_LOOK_MS = HEARTBEAT_MS + 1_000;
/** Two beats, for a holder that may be on another machine: a network share may show the first one late. */
const LOOK_ELSEWHERE_MS = 2 * HEARTBEAT_MS + 1_000;
/** Clocks of maintained machines differ by minutes at most; an hour without a heartbeat is not a clock difference. */
const SILENCE_ELSEWHERE_MS = 3_600_000;
/** Twelve missed beats, if clocks cannot be compared. Network shares show changes within a minute (NFS: acregmax 60 s). */
const WATCH_ELSEWHERE_MS = 12 * HEARTBEAT_MS;

/** When each lock file last changed, as observed by one waiter. */
export type Watched = Map<string, { readonly seen: LockFile; readonly since: number }>;

/**
 * Takes the lock if it is free or its holder is dead. Waits at most a few seconds, if only a missing heartbeat can show
 * that the holder is dead.
 * @param path the lock file; its folder is created if necessary
 * @throws Failure (`disk`)
 */
export async function tryLock(path: string, around: LockEnvironment = SYSTEM): Promise<LockAttempt> {
  const watched: Watched = new Map();
  let attempt = await attemptLock(path, watched, around);
  const first = watched.get(path)?.since;
  // A change is a heartbeat: the holder is alive and can be reported without watching it for a minute.
  while (!attempt.taken && attempt.judgedInMs !== null && attempt.judgedInMs <= LOOK_ELSEWHERE_MS) {
    await around.sleep(attempt.judgedInMs);
    attempt = await attemptLock(path, watched, around);
    if (watched.get(path)?.since !== first) return attempt;
  }
  return attempt;
}

/**
 * The same without waiting, for callers that retry. If nothing else is known, a holder counts as dead once its heartbeat
 * has not changed for long enough while it was watched: the clocks of two machines may differ.
 * @param watched what this caller has observed so far; updated
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

type Verdict = HolderState | 'damaged';

function judgeFile(found: LockFile, { machine }: LockEnvironment): Verdict {
  return found.holder === null ? 'damaged' : judgeHolder(found.holder, machine);
}

/** Null if the holder runs, 0 if it is dead, else for how much longer its heartbeat must be missing, in milliseconds. */
function timeToJudge(
  path: string,
  found: LockFile,
  verdict: Verdict,
  watched: Watched,
  around: LockEnvironment,
): number | null {
  if (verdict === 'running') return null;
  if (verdict === 'gone') return 0;
  const before = watched.get(path);
  const since = before !== undefined && isUnchanged(before.seen, found) ? before.since : around.elapsed();
  watched.set(path, { seen: found, since });
  return Math.max(0, since + silenceNeeded(verdict, around.now() - found.beatMs) - around.elapsed());
}

/** How long a file must stay unchanged while it is watched. @param ageMs of the last heartbeat, if both clocks are right */
function silenceNeeded(verdict: 'damaged' | 'unclear' | 'elsewhere', ageMs: number): number {
  // Within one beat a holder finds that its file is damaged, and stops; without links, another process may be writing the file just now.
  if (verdict === 'damaged') return LOOK_ELSEWHERE_MS;
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
 * Describes a lock without taking it; null if it does not exist. If the holder cannot be checked, the age of the heartbeat
 * decides: good enough for display, but not for taking the lock over.
 */
export async function inspectLock(path: string, around: LockEnvironment = SYSTEM): Promise<LockState | null> {
  const found = await onDisk(path, () => readLockFile(path));
  if (found === null) return null;
  const { holder, beatMs } = found;
  const verdict = judgeFile(found, around);
  const ageMs = around.now() - beatMs;
  const limit = verdict === 'elsewhere' ? SILENCE_ELSEWHERE_MS : SILENCE_MS;
  const isFree = verdict === 'gone' || verdict === 'damaged';
  return { holder, beatMs, isStale: isFree || (verdict !== 'running' && ageMs >= limit) };
}

/**
 * Replaces a dead lock while holding a second lock, after checking it once more: two processes cannot both succeed.
 * @returns null if the lock has changed meanwhile
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
    const found = await readLockFile(path);
    if (found === null || !isUnchanged(found, dead)) return null;
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
  const isHeld = () => {
    try {
      return parseHolder(readFileSync(path, 'utf8'))?.token === own.token;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return false;
      throw fileSystemFailure(error, path);
    }
  };
  const beat = async () => {
    if (isHeld()) {
      const now = new Date();
      await utimes(path, now, now);
    } else if (released === null) {
      // Taken over while this process was suspended: the new holder writes its own heartbeat.
      stop();
      lost.abort();
    }
  };
  // A failed beat is like a late one: other processes act only after several missed beats.
  const stop = around.repeat(HEARTBEAT_MS, () => void beat().catch(() => undefined));
  return {
    lost: lost.signal,
    isHeld,
    release() {
      stop();
      released ??= onDisk(path, () => removeLockFile(path, own));
      return released;
    },
  };
}
