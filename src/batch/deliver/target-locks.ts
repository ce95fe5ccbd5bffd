/** Locks files that are being downloaded, so that two processes never write the same file. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../../errors/failure.ts';
import { describeHolder } from '../../journal/hold.ts';
import { type Lock, tryLock } from '../../journal/lock.ts';

/** Folder of the locks below the state folder, so that no lock files lie beside the results. */
const LOCKS_FOLDER = 'downloads';

/**
 * Locks files while the work runs. If the state folder is not writable, the work runs without locks.
 * @param paths absolute
 * @throws Failure (`temporary`) if another process downloads one of them; errors of the work
 */
export async function withTargets<T>(
  stateDir: string,
  paths: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const locks: Lock[] = [];
  try {
    for (const path of paths) locks.push(...(await lockTarget(stateDir, path)));
    return await work();
  } finally {
    await Promise.allSettled(locks.map((lock) => lock.release()));
  }
}

async function lockTarget(stateDir: string, path: string): Promise<readonly Lock[]> {
  const file = join(stateDir, LOCKS_FOLDER, `${hash('sha256', path)}.lock`);
  try {
    const attempt = await tryLock(file);
    if (attempt.taken) return [attempt.lock];
    const { who, ifDead } = describeHolder(attempt, file);
    const message = `another vloc is fetching ${path}: ${who}`;
    const advice = `Wait until it is done, then run the same command again.${ifDead}`;
    throw new Failure({ category: 'temporary', code: 'FILE_LOCKED', message, advice, retryable: true });
  } catch (error) {
    if (error instanceof Failure && error.facts.category === 'disk') return [];
    throw error;
  }
}
