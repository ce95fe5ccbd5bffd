/** The file that is a lock: there is no moment at which it is there and does not say whose it is. */
import { link, open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../errors/system-error.ts';
import { type Holder, parseHolder } from './machine.ts';

export interface LockFile {
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
export function draftPath(path: string, token: string): string {
  return join(dirname(path), `.${basename(path)}.${token}`);
}

/** File systems without hard links (exFAT, many network shares) answer with one of these. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EMLINK']);

/** Makes the lock file unless there is one; true if it did. */
export async function createLockFile(path: string, own: Holder): Promise<boolean> {
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

/** Puts the own lock in the place of a dead one. Only for who holds the right to take over. */
export async function replaceLockFile(path: string, own: Holder): Promise<void> {
  const draft = draftPath(path, own.token);
  await writeDraft(draft, own);
  await rename(draft, path);
}

function writeDraft(path: string, own: Holder): Promise<void> {
  return writeFile(path, JSON.stringify(own), { mode: 0o600, flag: 'wx' });
}

/** Removes the lock file if it is still the holder's own. */
export async function removeLockFile(path: string, own: Holder): Promise<void> {
  const found = await readLockFile(path);
  if (found?.holder?.token === own.token) await rm(path, { force: true });
}

/** True if the lock has not changed since: same holder, no heartbeat. */
export async function isUnchanged(path: string, seen: LockFile): Promise<boolean> {
  const now = await readLockFile(path);
  return now !== null && now.text === seen.text && now.beatMs === seen.beatMs;
}
