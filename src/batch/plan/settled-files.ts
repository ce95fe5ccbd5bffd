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
  /** When this size and modification time were first seen, milliseconds since 1970. */
  readonly sinceMs: number;
  /** True if it was returned as ready in its present state. */
  readonly isTaken: boolean;
}

/** Results of the listings so far, by name. */
export type Sightings = ReadonlyMap<string, Sighting>;

export const NOTHING_SEEN: Sightings = new Map();

/** Copies that stall for a second are common; some file systems count the time of a change in steps of two seconds. */
export const SETTLE_MS = 2_000;

/**
 * State of the work on a file: `busy` while an earlier version is processed, `again` to return it once more although it
 * has not changed, or neither.
 */
export type FileWork = 'none' | 'busy' | 'again';

interface Look {
  /** Files that are ready. Each is returned once, and again after it changed or was requested again. */
  readonly settled: readonly SeenFile[];
  readonly next: Sightings;
  /** True while a file may still be being written. */
  readonly isWaiting: boolean;
}

/**
 * Evaluates one more listing. A file has settled when its size and modification time have not changed for `SETTLE_MS`;
 * empty files never settle. A busy file is returned once it no longer is busy.
 * @param atMs time of the listing, milliseconds since 1970
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

/** Extensions that browsers and copy programs give to unfinished files. */
const UNFINISHED = /\.(part|partial|crdownload|download|tmp|filepart)$/i;

/** False for hidden files, files in hidden folders, and files whose extension marks them as unfinished. */
export function mayBeInput(name: string): boolean {
  return !UNFINISHED.test(name) && !name.split('/').some((part) => part.startsWith('.'));
}
