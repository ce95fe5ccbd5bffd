/** Files of watched folders as they settle, and which of them a run is working on. */
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { usageFailure } from '../../base/failure.ts';
import { fileOf } from '../inputs/items.ts';
import { isSystemFolder } from '../inputs/system-folders.ts';
import type { BatchEvent, BatchItem } from '../item.ts';
import { watchFolder as openFolderWatch } from '../records/folder-watch.ts';

interface FoldersOptions extends Pick<WatchOptions, 'now' | 'signal' | 'openWatch'> {
  /** Absolute. */
  readonly folders: readonly string[];
  /** Whether the run is working on a file, by its absolute path. */
  readonly workOn: (path: string) => FileWork;
  /** Receives the folders of trash, snapshots or the system that a listing skips, if there are any. */
  readonly onSkipped?: (folders: readonly string[]) => void;
}

type Files = AsyncGenerator<readonly string[]>;

/**
 * Yields absolute paths of files as they settle, until the signal is aborted. Folders do not wait for each other.
 * @throws Failure (`usage`) if one of them is not a folder at the start
 */
export async function* watchFolders({ folders, workOn, signal, ...rest }: FoldersOptions): Files {
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  const watched = folders.map((folder) => watchPaths(folder, workOn, { ...rest, signal: ends }));
  const coming = new Map(watched.map((files) => [files, nextOf(files)]));
  try {
    while (coming.size > 0) {
      const { files, result } = await Promise.race(coming.values());
      if (result.done === true) {
        coming.delete(files);
        continue;
      }
      coming.set(files, nextOf(files));
      yield result.value;
    }
  } finally {
    over.abort();
    await Promise.allSettled(watched.map((files) => files.return(undefined)));
  }
}

function nextOf(files: Files): Promise<{ files: Files; result: IteratorResult<readonly string[]> }> {
  const next = files.next().then((result) => ({ files, result }));
  // A failure is reported to the next caller that waits for it.
  next.catch(() => undefined);
  return next;
}

async function* watchPaths(
  folder: string,
  workOn: FoldersOptions['workOn'],
  rest: Pick<WatchOptions, 'now' | 'signal' | 'openWatch' | 'onSkipped'>,
): Files {
  const pathOf = (name: string) => join(folder, name);
  const options = { ...rest, folder, isWanted: () => true, workOn: (name: string) => workOn(pathOf(name)) };
  for await (const files of watchFolder(options)) yield files.map(({ name }) => pathOf(name));
}

interface WatchOptions {
  readonly folder: string;
  /** Selects names, such as those of videos; hidden and unfinished files are always ignored. */
  readonly isWanted: (name: string) => boolean;
  /** Whether the run is working on a file, by its name below the folder. Default: each file is processed once and after changes. */
  readonly workOn?: (name: string) => FileWork;
  readonly onSkipped?: FoldersOptions['onSkipped'];
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Stops watching. */
  readonly signal: AbortSignal;
  /** Waits for a change; replaced in tests that control time. */
  readonly openWatch?: typeof openFolderWatch;
}

/** Subfolders and network shares report no changes, so the folder is also polled. */
const UNTOLD_MS = 10_000;

/**
 * Yields files that are no longer written to, including those that exist at the start, until the signal is aborted. A folder
 * that cannot be read is tried again.
 * @throws Failure (`usage`) if the folder does not exist at the start
 */
export async function* watchFolder(options: WatchOptions): AsyncGenerator<readonly SeenFile[]> {
  const { folder, isWanted, workOn, onSkipped, now, signal, openWatch = openFolderWatch } = options;
  await checkWatched(folder);
  const watch = openWatch(folder, mayBeInput);
  let seen = NOTHING_SEEN;
  try {
    while (!signal.aborted) {
      const skipped: string[] = [];
      const files = await listFiles(folder, isWanted, skipped);
      if (skipped.length > 0) onSkipped?.(skipped);
      const look = files === null ? null : takeLook(seen, files, now(), workOn);
      if (look !== null) {
        seen = look.next;
        if (look.settled.length > 0) yield look.settled;
      }
      // A growing file causes no event, so it is polled.
      await watch
        .changed(look?.isWaiting === true ? SETTLE_MS : UNTOLD_MS, signal)
        .catch(rethrowUnless(signal));
    }
  } finally {
    watch.close();
  }
}

function rethrowUnless(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error;
  };
}

/** Null while the folder cannot be read. @param skipped gets the folders of trash, snapshots or the system */
async function listFiles(
  folder: string,
  isWanted: (name: string) => boolean,
  skipped: string[],
): Promise<SeenFile[] | null> {
  const all = await listNames(folder, '', skipped);
  if (all === null) return null;
  const names = all.filter((name) => mayBeInput(name) && isWanted(name)).sort();
  const files: SeenFile[] = [];
  for (const name of names) {
    // It may have been deleted, or be a broken link.
    const found = await stat(join(folder, name)).catch(() => null);
    if (found?.isFile()) files.push({ name, bytes: found.size, mtimeMs: found.mtimeMs });
  }
  return files;
}

/** Names of all files below the root; null if the folder cannot be read. One below it that cannot be read counts as empty. */
async function listNames(root: string, below: string, skipped: string[]): Promise<readonly string[] | null> {
  const folder = join(root, below);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => null);
  if (entries === null) return null;
  const names: string[] = [];
  for (const entry of entries) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (!entry.isDirectory()) names.push(name);
    else if (isSystemFolder(entry.name)) skipped.push(join(folder, entry.name));
    else if (!entry.name.startsWith('.')) names.push(...((await listNames(root, name, skipped)) ?? []));
  }
  return names;
}

/** @throws Failure (`usage`) if the folder does not exist or cannot be read */
export async function checkWatched(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory()) {
    await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      throw usageFailure(
        'NO_FOLDER',
        `cannot read the watched folder ${folder} (${error.code})`,
        'Correct its permissions, then run the same command again.',
      );
    });
    return;
  }
  throw usageFailure(
    'NO_FOLDER',
    `--watch needs a folder, and ${folder} ${found === null ? 'does not exist' : 'is not a folder'}`,
    "Name an existing folder; --include '*.mp4' selects files in it.",
  );
}

/**
 * Refuses to put results where they would be taken for new inputs, each of which would be charged, endlessly.
 * @throws Failure (`usage`)
 */
export async function checkResultsFolder(watched: string, results: string): Promise<void> {
  const [inputs, outputs] = await Promise.all([resolveLinks(watched), resolveLinks(results)]);
  if (outputs !== inputs && !outputs.startsWith(`${inputs}${sep}`)) return;
  throw usageFailure(
    'RESULTS_WATCHED',
    `results would be written to ${outputs}, which is in the watched folder`,
    'Choose a folder outside the watched one with --out.',
  );
}

/** The real path of a folder, which need not exist yet. */
async function resolveLinks(folder: string): Promise<string> {
  const path = resolve(folder);
  const real = await realpath(path).catch(() => null);
  if (real !== null) return real;
  const above = resolve(path, '..');
  return above === path ? path : join(await resolveLinks(above), relative(above, path));
}

export interface FilesAtWork {
  /** These files (absolute paths) were taken, and these items made from them. */
  begin(paths: readonly string[], items: readonly BatchItem[]): void;
  /** Listens to the events of the run. */
  listen(event: BatchEvent): void;
  /** @param path absolute */
  workOn(path: string): FileWork;
}

/** The pause before a file is retried; the run itself has retried for minutes by then. */
const AGAIN_MS = 5 * 60_000;

/** @param now milliseconds since 1970 */
export function createFilesAtWork(now: () => number): FilesAtWork {
  const open = new Map<string, Set<string>>();
  const due = new Map<string, number>();
  return {
    begin(paths, items) {
      for (const path of paths) due.delete(path);
      for (const item of items) {
        const path = fileOf(item.input)?.path;
        if (path !== undefined) open.set(path, (open.get(path) ?? new Set()).add(item.key));
      }
    },
    listen(event) {
      if (event.type !== 'item') return;
      const { item, state } = event;
      const path = fileOf(item.input)?.path;
      const isOver = state.phase === 'done' || state.phase === 'failed' || state.phase === 'left';
      const keys = path === undefined ? undefined : open.get(path);
      if (path === undefined || keys === undefined || !isOver || !keys.delete(item.key)) return;
      if (keys.size === 0) open.delete(path);
      const isPassing = state.phase === 'failed' && state.failure.facts.category === 'temporary';
      if (isPassing) due.set(path, now() + AGAIN_MS);
    },
    workOn(path) {
      if (open.has(path)) return 'busy';
      const at = due.get(path);
      return at !== undefined && at <= now() ? 'again' : 'none';
    },
  };
}

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
const SETTLE_MS = 2_000;

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
