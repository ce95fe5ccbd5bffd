/** Waiting for a lock, a short task under one, and who holds it. */
import { basename, dirname } from 'node:path';
import { watchFolder } from './folder-watch.ts';
import { attemptLock, type Lock, type LockRefused, type Watched } from './lock.ts';
import type { Holder } from './machine.ts';

/** Interval of checks for holders that died: watches only report released locks. */
const RECHECK_MS = 1_000;

/** Describes the lock holder, and what to do if it has died. @param path of the lock */
export function describeHolder(
  { holder, isElsewhere }: LockRefused,
  path: string,
): { readonly who: string; readonly ifDead: string } {
  const who =
    holder === null
      ? `a process that the damaged lock file ${path} does not name`
      : `${nameProcess(holder)}, since ${holder.since}`;
  // A holder on this machine is known to be running.
  const ifDead = isElsewhere || holder === null ? ` If no vloc runs there, remove ${path}.` : '';
  return { who, ifDead };
}

/** Such as `process 4711 on shelf in /srv/lessons`. */
export function nameProcess({ pid, host, folder }: Holder): string {
  return `process ${pid} on ${host}${folder === undefined ? '' : ` in ${folder}`}`;
}

/**
 * Waits until the lock is free, as long as the signal allows.
 * @throws the reason of the signal; Failure (`disk`)
 */
export async function waitForLock(path: string, signal?: AbortSignal): Promise<Lock> {
  const watched: Watched = new Map();
  signal?.throwIfAborted();
  const first = await attemptLock(path, watched);
  if (first.taken) return first.lock;
  // The watch begins before the next attempt, so that the lock is not released unseen in between.
  const name = basename(path);
  const watch = watchFolder(dirname(path), (changed) => changed === name);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const next = await attemptLock(path, watched);
      if (next.taken) return next.lock;
      await watch.changed(RECHECK_MS, signal);
    }
  } finally {
    watch.close();
  }
}

/** Runs a short task under a lock, and waits for other processes that hold it. */
export async function withMutex<T>(path: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const lock = await waitForLock(path, signal);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}
