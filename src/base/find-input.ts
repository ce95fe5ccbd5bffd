/** Detects inputs of the user under any name: no result may ever replace it. */
import type { BigIntStats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';

/** Returns the input at the path, as the user named it; null when there is none. */
export type FindInput = (path: string) => Promise<string | null>;

export interface Inputs {
  readonly find: FindInput;
  /** Adds absolute paths of inputs; they are resolved at the next `find`. */
  add(paths: Iterable<string>): void;
}

/**
 * Files are identified by device and inode, which covers links, other spellings and file systems that ignore
 * case. A hard link counts as the input too: the name may be the one that the user has given.
 */
export function createInputs(paths: Iterable<string> = []): Inputs {
  const unseen = new Set(paths);
  const byIdentity = new Map<string, string>();
  const byName = new Map<string, string>();

  let learned: Promise<void> = Promise.resolve();

  /** Concurrent calls of `find` wait for all inputs. */
  function learn(): Promise<void> {
    const news = [...unseen];
    unseen.clear();
    learned = learned.then(async () => {
      for (const path of news) await learnOne(path);
    });
    return learned;
  }

  async function learnOne(path: string): Promise<void> {
    const identity = await identify(path);
    if (identity !== null) byIdentity.set(identity, path);
    // By its names too: a program may replace it by a new file meanwhile.
    for (const name of [path, await realpath(path).catch(() => path)]) byName.set(foldName(name), path);
  }

  return {
    add(more) {
      for (const path of more) unseen.add(path);
    },
    async find(path) {
      const identity = await identify(path);
      // No file, so nothing can be lost.
      if (identity === null) return null;
      await learn();
      const same = byIdentity.get(identity);
      if (same !== undefined) return same;
      const real = await realpath(path).catch(() => path);
      const named = byName.get(foldName(path)) ?? byName.get(foldName(real));
      // On a case-sensitive disk a name in other letters is another file.
      return named !== undefined && (await identify(named)) === identity ? named : null;
    },
  };
}

/** Returns the same text for all names that may be one file: macOS and Windows keep one for names that differ in case, macOS also for those that differ in composition. */
export function foldName(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** Device and inode of what a path leads to; null when there is nothing. */
async function identify(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? null : identityOf(found);
}

function identityOf({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`;
}
