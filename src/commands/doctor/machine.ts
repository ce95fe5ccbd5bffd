/** Checks of this machine: Node, terminal, folders and their permissions. */

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, stat, statfs, unlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import packageFile from '../../../package.json' with { type: 'json' };
import { formatBytes } from '../../base/amounts.ts';
import { describeDisk, errorCode } from '../../base/system-error.ts';
import { nameProcess } from '../../batch/records/hold.ts';
import { inspectLock, type LockState, tryLock } from '../../batch/records/lock.ts';
import { listPlaces, lockPath } from '../../batch/records/record-folder.ts';
import { CREDIT_RULES } from '../../service/credits/audit.ts';
import { storePath } from '../../service/folders.ts';
import { SCHEMA_VERSION } from '../../service/store/schema.ts';
import type { Io } from '../context/context.ts';
import type { CheckResult } from './findings.ts';

/** Never fails: `bin/vloc.js` starts nothing on a Node that does not fit. @param version such as `24.21.0` */
export function checkNode(version: string): CheckResult {
  return { grade: 'ok', message: `Node ${version}`, facts: { version, needed: packageFile.engines.node } };
}

/** Never fails: vloc falls back to plain text. */
export function checkTerminal({ stdout, stderr, env, platform }: Io): CheckResult {
  const { NO_COLOR: noColor = null, TERM: term = null } = env;
  const unicode = platform === 'win32' || /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
  const isTerminal = stderr.isTTY === true;
  const facts = {
    stdout_is_terminal: stdout.isTTY === true,
    stderr_is_terminal: isTerminal,
    columns: stderr.columns ?? null,
    color: isTerminal && term !== 'dumb' && (noColor === null || noColor === ''),
    unicode,
    term,
  };
  if (!isTerminal) return { grade: 'ok', message: 'none: plain lines instead of live progress', facts };
  const message = `${facts.columns ?? 80} columns, ${facts.color ? '' : 'no '}colour, ${unicode ? '' : 'no '}Unicode`;
  if (unicode) return { grade: 'ok', message, facts };
  return { grade: 'warn', message, fix: 'Set a UTF-8 locale, such as LANG=C.UTF-8.', facts };
}

/** A video of the largest size, and its result. Source: specification, "Limits" (video size). */
const COMFORTABLE_BYTES = 2 * 1024 ** 3;
/** A sound track of 15 minutes at 48 kHz, 16 bit, stereo takes 173 MB: with less space, hardly any job succeeds. */
const LEAST_BYTES = 175_000_000;

/** Not empty: an empty file may fit on a full disk. */
const PROBE = 'vloc doctor\n';

/** Writes and removes a small file in the folder, or in its nearest existing parent. */
export async function checkFolderWritable(folder: string): Promise<CheckResult> {
  const existing = await nearestExisting(resolve(folder));
  const facts = { path: folder, exists: existing === resolve(folder) };
  const fault = await tryWrite(existing);
  if (fault !== null) {
    const { reason, advice } = describeDisk(fault, existing);
    return {
      grade: 'fail',
      message: `cannot write to ${existing}: ${reason} (${fault})`,
      fix: advice,
      facts,
    };
  }
  const { bavail, bsize } = await statfs(existing);
  return judgeFreeSpace(facts.exists ? folder : `${folder} (not created yet)`, bavail * bsize, facts);
}

/** @param freeBytes available to this user */
export function judgeFreeSpace(
  shown: string,
  freeBytes: number,
  facts: Readonly<Record<string, unknown>>,
): CheckResult {
  const message = `${shown}, ${formatBytes(freeBytes)} free`;
  const all = { ...facts, free_bytes: freeBytes };
  if (freeBytes >= COMFORTABLE_BYTES) return { grade: 'ok', message, facts: all };
  return {
    grade: freeBytes < LEAST_BYTES ? 'fail' : 'warn',
    message,
    fix: 'Free some space: a video and its result may take 2 GiB together.',
    facts: all,
  };
}

async function nearestExisting(folder: string): Promise<string> {
  try {
    await stat(folder);
    return folder;
  } catch (error) {
    const parent = dirname(folder);
    if (errorCode(error) !== 'ENOENT' || parent === folder) return folder;
    return nearestExisting(parent);
  }
}

/** Null on success, else the error code of the system. */
async function tryWrite(folder: string): Promise<string | null> {
  const path = join(folder, `.vloc-doctor-${randomUUID()}`);
  try {
    await writeFile(path, PROBE, { flag: 'wx', mode: 0o600 });
    return null;
  } catch (error) {
    if (errorCode(error) === '') throw error;
    return errorCode(error);
  } finally {
    await unlink(path).catch(() => undefined);
  }
}

/** The mode bits of group and others. */
const OTHERS = 0o077;

/**
 * Checks that group and others cannot access the folders that exist.
 * @param warnings about modes of files in them, from reading the settings
 */
export async function checkPermissions(
  folders: readonly string[],
  warnings: readonly string[],
  platform: NodeJS.Platform,
): Promise<CheckResult> {
  // Windows has no such bits: Node shows 0666 for every file there.
  if (platform === 'win32') return { grade: 'ok', message: 'file modes are not checked on Windows' };
  const open = [...warnings];
  const fixes: string[] = [];
  for (const folder of folders) {
    const mode = await modeOf(folder);
    if (mode === null || (mode & OTHERS) === 0) continue;
    open.push(`${folder} is open to others (mode ${mode.toString(8)})`);
    fixes.push(`chmod 700 '${folder}'`);
  }
  if (open.length === 0) return { grade: 'ok', message: 'only you can read settings and results' };
  return {
    grade: 'warn',
    message: open.join('; '),
    ...(fixes.length === 0 ? {} : { fix: fixes.join('; ') }),
  };
}

async function modeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mode & 0o777;
  } catch {
    // The check of the disk reports a folder that cannot be reached.
    return null;
  }
}

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
    if (holder === null) return 'damaged';
    return `${isStale ? 'stale, left by' : 'held by'} ${nameProcess(holder)}`;
  });
  const parts = [...groups].map(([who, locks]) => {
    const since = locks.flatMap(({ holder }) => (holder === null ? [] : [holder.since])).toSorted()[0];
    return `${locks.length} ${who}${since === undefined ? '' : ` since ${since}`}`;
  });
  return `locks: ${parts.join('; ')}`;
}

/** Compares the sums of the account with its ledger. Changes nothing. */
export async function checkAccount(stateDir: string): Promise<CheckResult> {
  const path = storePath(stateDir);
  if (!existsSync(path)) return { grade: 'ok', message: 'no job yet' };
  const { DatabaseSync } = await import('node:sqlite');
  const file = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  try {
    const { user_version: version } = file.prepare('PRAGMA user_version').get() ?? {};
    if (version !== SCHEMA_VERSION) return { grade: 'ok', message: 'the next job upgrades it' };
    const broken = Object.entries(CREDIT_RULES).flatMap(([rule, sql]) =>
      file.prepare(sql).get() === undefined ? [] : [rule],
    );
    if (broken.length === 0) return { grade: 'ok', message: 'credits and ledger agree' };
    return {
      grade: 'fail',
      message: broken.join('; '),
      fix: `Keep a copy of ${path}, restore the last backup, and report this.`,
      facts: { broken },
    };
  } finally {
    file.close();
  }
}
