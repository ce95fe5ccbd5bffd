/**
 * One process at a time. SQLite's lock on a file is held by the kernel, so it ends with the process that holds it: a killed
 * one leaves nothing to clean up.
 */
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../client/failure.ts';
import { folderTrouble } from './folder-failure.ts';
import { PRIVATE_FILE } from './private-file.ts';

/** A hundred processes that start at once keep two busy cores at work for a minute before the last one has its turn. */
const LONGEST_WAIT_MS = 120_000;
/** About the time that one change takes. */
const FIRST_PAUSE_MS = 10;
/** Each look costs the holder some of the processor that it needs to get done. */
const LONGEST_PAUSE_MS = 500;
/** Source: SQLite, "Result and Error Codes": SQLITE_BUSY. */
const BUSY = 5;

/**
 * Runs the work while no other process holds the lock of that file.
 * @throws Failure (`temporary`) when the lock is not free in two minutes
 */
export async function withLock<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  // Loaded here: reading profiles needs no lock.
  const { DatabaseSync } = await import('node:sqlite');
  await createOnce(path);
  const database = new DatabaseSync(path);
  try {
    const giveUpAt = performance.now() + LONGEST_WAIT_MS;
    for (let pause = FIRST_PAUSE_MS; !tryLock(database, path); pause *= 2) {
      if (performance.now() > giveUpAt) throw locked(path);
      // Each draws its own, so that they do not come all at once.
      await sleep(Math.min(pause, LONGEST_PAUSE_MS) * (0.5 + Math.random()));
    }
    return await work();
  } finally {
    // Closing gives the lock back too.
    database.close();
  }
}

/** Opened for creation only: closing a file drops all locks that this process has on it. */
async function createOnce(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', PRIVATE_FILE)).close();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function tryLock(database: { exec(sql: string): void }, path: string): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return false;
    // A disk that takes nothing is no fault of the file.
    if (folderTrouble(error) !== null) throw error;
    throw new Failure(
      {
        category: 'configuration',
        code: 'PROFILES_LOCK',
        message: `${path} cannot be locked: ${error instanceof Error ? error.message : String(error)}`,
        advice: 'It holds no data: remove it, then run the same command again.',
      },
      { cause: error },
    );
  }
}

function locked(path: string): Failure {
  return new Failure({
    category: 'temporary',
    code: 'PROFILES_LOCKED',
    message: `another vloc has held ${path} for ${LONGEST_WAIT_MS / 1000} s`,
    advice: 'Wait for it to end, then run the same command again.',
    retryable: true,
  });
}
