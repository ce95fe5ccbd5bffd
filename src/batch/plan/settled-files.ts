/** Finds the files of a folder that are no longer being written, by comparing listings of the folder. Pure. */

/** A file in one listing. */
export interface SeenFile {
  /** Below the folder, `/` between folders. */
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since 1970, as the file system keeps it. */
  readonly mtimeMs: number;
}

interface Sighting {
  readonly file: SeenFile;
  /** When it was first seen as it is now, milliseconds since 1970. */
  readonly sinceMs: number;
  /** Handed over as it is now. */
  readonly isTaken: boolean;
}

/** What the looks so far have seen, by name. */
export type Sightings = ReadonlyMap<string, Sighting>;

export const NOTHING_SEEN: Sightings = new Map();

/** Copies that stall for a second are common; some file systems count the time of a change in steps of two seconds. */
export const SETTLE_MS = 2_000;

/**
 * What is known of a file from the work on it: it is `busy` as it was before, it is to be taken `again` although it has
 * not changed, or neither.
 */
export type FileWork = 'none' | 'busy' | 'again';

interface Look {
  /** Ready to be used; each is handed over once, and again when it has changed since or is wanted again. */
  readonly settled: readonly SeenFile[];
  readonly next: Sightings;
  /** True while a file is there that may still be written to. */
  readonly isWaiting: boolean;
}

/**
 * Takes one more look in. A file has settled when size and time of change are the same as `SETTLE_MS` or more before;
 * an empty one has only been begun. One that is busy is handed over when it no longer is.
 * @param atMs when the folder was looked at, milliseconds since 1970
 */
export function takeLook(
  before: Sightings,
  files: readonly SeenFile[],
  atMs: number,
  workOn: (name: string) => FileWork = () => 'none',
): Look {
  const next = new Map<string, Sighting>();
  const settled: SeenFile[] = [];
  for (const file of files) {
    const known = before.get(file.name);
    const isSame = known !== undefined && isUnchanged(known.file, file) && known.sinceMs <= atMs;
    if (!isSame) {
      next.set(file.name, { file, sinceMs: atMs, isTaken: false });
      continue;
    }
    const work = workOn(file.name);
    const isWanted = known.isTaken ? work === 'again' : work !== 'busy';
    const hasSettled = isWanted && file.bytes > 0 && atMs - known.sinceMs >= SETTLE_MS;
    if (hasSettled) settled.push(file);
    next.set(file.name, { ...known, isTaken: known.isTaken || hasSettled });
  }
  const isWaiting = [...next.values()].some(({ file, isTaken }) => !isTaken && file.bytes > 0);
  return { settled, next, isWaiting };
}

function isUnchanged(left: SeenFile, right: SeenFile): boolean {
  return left.bytes === right.bytes && left.mtimeMs === right.mtimeMs;
}

/** Endings that browsers and copying programs give to what they have not finished. */
const UNFINISHED = /\.(part|partial|crdownload|download|tmp|filepart)$/i;

/** False for what is hidden, or in a hidden folder, and for what says that it is not finished. */
export function mayBeInput(name: string): boolean {
  return !UNFINISHED.test(name) && !name.split('/').some((part) => part.startsWith('.'));
}
