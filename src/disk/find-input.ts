/** Whether a file is one that the user has given, under whatever name: no result may ever take its place. */
import type { BigIntStats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';

/** The input that is at the path, as it was named; null when what is there is none of them, or nothing. */
export type FindInput = (path: string) => Promise<string | null>;

export interface Inputs {
  readonly find: FindInput;
  /** Makes more files known, absolute; it costs nothing until something is looked for. */
  add(paths: Iterable<string>): void;
}

/**
 * Files are told apart by device and inode, so that links, other spellings and file systems that do not tell upper from
 * lower case are covered. A hard link counts as the input too: the name may be the one that the user has given.
 */
export function createInputs(paths: Iterable<string> = []): Inputs {
  const unseen = new Set(paths);
  const byIdentity = new Map<string, string>();
  const byName = new Map<string, string>();

  let learned: Promise<void> = Promise.resolve();

  /** Who looks while others are learned waits for them. */
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
      // Where nothing is, nothing is lost.
      if (identity === null) return null;
      await learn();
      const same = byIdentity.get(identity);
      if (same !== undefined) return same;
      const real = await realpath(path).catch(() => path);
      const named = byName.get(foldName(path)) ?? byName.get(foldName(real));
      // The name in other letters is another file where the disk tells them apart.
      return named !== undefined && (await identify(named)) === identity ? named : null;
    },
  };
}

/** The same for all names that may be one file: macOS and Windows keep one for names that differ in case, macOS also for those that differ in composition. */
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
