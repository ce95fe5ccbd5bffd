/** The locks of this user: their holders, and which are stale. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { listPlaces, lockPath } from '../../batch/record-folder.ts';
import { nameProcess } from '../../batch/records/hold.ts';
import { inspectLock, type LockState, tryLock } from '../../batch/records/lock.ts';
import type { CheckResult } from './findings.ts';

interface FoundLock extends LockState {
  readonly path: string;
}

/** The folders that may hold locks: state, config and current folder. */
export interface LockFolders {
  readonly state: string;
  readonly config: string;
  readonly current: string;
}

/** Levels of the state folder that hold locks: itself, kind of record, profile. */
const DEPTH = 3;

/** Shows the locks; changes nothing. */
export async function checkLocks(folders: LockFolders): Promise<CheckResult> {
  const found = await findLocks(folders);
  const facts = { locks: found.map(factsOf) };
  if (found.length === 0) return { grade: 'ok', message: 'no lock is held', facts };
  const message = describe(found);
  if (!found.some(({ isStale }) => isStale)) return { grade: 'ok', message, facts };
  return {
    grade: 'warn',
    message,
    fix: 'Nothing needs to be done: the next run takes over stale locks. To remove them now: vloc doctor --clear-locks',
    facts,
  };
}

/**
 * Removes locks of dead holders, with the same takeover as a run. Locks of living processes stay.
 * @returns how many were removed
 */
export async function clearLocks(folders: LockFolders): Promise<number> {
  const stale = (await findLocks(folders)).filter(({ isStale }) => isStale);
  const attempts = await Promise.all(stale.map(({ path }) => tryLock(path)));
  const taken = attempts.flatMap((attempt) => (attempt.taken ? [attempt.lock] : []));
  await Promise.all(taken.map((lock) => lock.release()));
  return taken.length;
}

async function findLocks({ state, config, current }: LockFolders): Promise<FoundLock[]> {
  const places = (await listPlaces(current).catch(() => [])).map(lockPath);
  const paths = [...(await listLocks(state, DEPTH)), ...(await listLocks(config, 1)), ...places];
  const found = await Promise.all(
    paths.map(async (path) => {
      const lock = await inspectLock(path);
      return lock === null ? [] : [{ ...lock, path }];
    }),
  );
  return found.flat();
}

async function listLocks(folder: string, depth: number): Promise<string[]> {
  // Another check reports folders that are missing or unreadable.
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const paths = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth > 1 ? listLocks(path, depth - 1) : [];
    return /\.(lock|takeover)$/.test(entry.name) ? [path] : [];
  });
  return (await Promise.all(paths)).flat();
}

function factsOf({ path, holder, isStale, beatMs }: FoundLock): object {
  const { pid = null, host = null, folder = null, since = null } = holder ?? {};
  return {
    path,
    state: isStale ? 'stale' : 'held',
    pid,
    host,
    folder,
    since,
    last_heartbeat: new Date(beatMs).toISOString(),
  };
}

/** Groups the locks by holder: several of one dead process are one entry. */
function describe(found: readonly FoundLock[]): string {
  const groups = Map.groupBy(found, ({ holder, isStale }) => {
    const who = holder === null ? 'an unknown process' : nameProcess(holder);
    return `${isStale ? 'stale, left by' : 'held by'} ${who}`;
  });
  const parts = [...groups].map(([who, locks]) => {
    const since = locks.flatMap(({ holder }) => (holder === null ? [] : [holder.since])).toSorted()[0];
    return `${locks.length} ${who}${since === undefined ? '' : ` since ${since}`}`;
  });
  return `locks: ${parts.join('; ')}`;
}
