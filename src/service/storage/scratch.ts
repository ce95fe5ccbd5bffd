/** Room on the disk of a worker for copies of inputs and for what is made of them. */
import { statfs } from 'node:fs/promises';
import { formatBytes } from '../../base/amounts.ts';
import { freeBytes } from '../../base/folder.ts';
import { NoRoom } from './storage.ts';

export interface Scratch {
  /**
   * Keeps room for work on an input until the returned function is called.
   * @param bytes size of the input
   * @throws NoRoom if there is not enough
   */
  reserve(bytes: number): Promise<() => void>;
  /** Whether there is hardly any room, whatever the job. */
  isFull(): Promise<boolean>;
}

/** The copy, the sound and the finished video of a job. */
const TIMES_THE_INPUT = 3;
/** Remains free for the rest of the machine: logs, the stage that is being written, programs. */
const SPARE_BYTES = 64 * 1024 ** 2;
/** The same on a disk that is hardly larger than that. */
const SPARE_SHARE = 0.05;

/**
 * @param folder of the work
 * @param makeRoom removes what can be computed again; returns whether there was any
 * @param free returns the free bytes of the disk, null if that is not known
 */
export function createScratch(
  folder: string,
  makeRoom: () => Promise<boolean>,
  free: (folder: string) => Promise<number | null> = freeBytes,
): Scratch {
  let reserved = 0;
  const lacks = async (needed: number) => {
    const there = await free(folder);
    return there === null ? 0 : needed + reserved + SPARE_BYTES - there;
  };
  return {
    async isFull() {
      const { bavail, blocks, bsize } = await statfs(folder);
      return bavail * bsize < Math.min(SPARE_BYTES, blocks * bsize * SPARE_SHARE);
    },
    async reserve(bytes) {
      const needed = bytes * TIMES_THE_INPUT;
      const isFull = (await lacks(needed)) > 0 && (!(await makeRoom()) || (await lacks(needed)) > 0);
      if (isFull) {
        const more = formatBytes(await lacks(needed));
        throw new NoRoom(
          `the disk of ${folder} lacks ${more} for an input of ${formatBytes(bytes)}; the job waits for space or for another worker`,
        );
      }
      reserved += needed;
      let isHeld = true;
      return () => {
        if (isHeld) reserved -= needed;
        isHeld = false;
      };
    },
  };
}
