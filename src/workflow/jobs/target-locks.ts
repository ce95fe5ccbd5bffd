/** A file that is being fetched belongs to one process: what two write at once is of neither. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../../errors/failure.ts';
import { describeHolder } from '../../journal/hold.ts';
import { type Lock, tryLock } from '../../journal/lock.ts';

/** Folder of the locks, below the state folder: beside the results they would be litter. */
const LOCKS_FOLDER = 'downloads';

/**
 * Locks files for as long as the work takes. A state folder that cannot be written to is no reason to fetch nothing.
 * @param paths absolute
 * @throws Failure (`temporary`) when another process fetches one of them; what the work throws
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
