/** Files of watched folders as they settle, and which of them a run is working on. */

import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { Failure } from '../../errors/failure.ts';
import { watchFolder as openFolderWatch } from '../../journal/folder-watch.ts';
import type { BatchEvent, BatchItem } from '../item.ts';
import { fileOf } from '../plan/items.ts';
import {
  type FileWork,
  mayBeInput,
  NOTHING_SEEN,
  SETTLE_MS,
  type SeenFile,
  takeLook,
} from '../plan/settled-files.ts';

interface FoldersOptions extends Pick<WatchOptions, 'now' | 'signal' | 'openWatch'> {
  /** Absolute. */
  readonly folders: readonly string[];
  /** What becomes of a file, by its absolute path. */
  readonly workOn: (path: string) => FileWork;
}

type Files = AsyncGenerator<readonly string[]>;

/**
 * Gives absolute paths of files as they settle, those of one look at one folder together; ends when the signal is
 * aborted. No folder waits for another.
 * @throws Failure (`usage`) when one of them is no folder at the start
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
  // It may fail while nobody waits for it; the next waiter receives the failure.
  next.catch(() => undefined);
  return next;
}

async function* watchPaths(
  folder: string,
  workOn: FoldersOptions['workOn'],
  rest: Pick<WatchOptions, 'now' | 'signal' | 'openWatch'>,
): Files {
  const pathOf = (name: string) => join(folder, name);
  const options = { ...rest, folder, isWanted: () => true, workOn: (name: string) => workOn(pathOf(name)) };
  for await (const files of watchFolder(options)) yield files.map(({ name }) => pathOf(name));
}

interface WatchOptions {
  readonly folder: string;
  /** Which names matter, such as those of videos; hidden and unfinished files never do. */
  readonly isWanted: (name: string) => boolean;
  /** What to do with a file, by its name below the folder; omitted: each is taken once and whenever it has changed. */
  readonly workOn?: (name: string) => FileWork;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Ends the watching. */
  readonly signal: AbortSignal;
  /** Waiting for a change, handed in where tests set the time. */
  readonly openWatch?: typeof openFolderWatch;
}

/** Subfolders and network shares report no changes, so the folder is also polled. */
const UNTOLD_MS = 10_000;

/**
 * Gives files that nobody writes to any more, those that are there from the start among them; ends when the signal is
 * aborted. A folder that cannot be read for a while is looked at again.
 * @throws Failure (`usage`) when there is no such folder at the start
 */
export async function* watchFolder(options: WatchOptions): AsyncGenerator<readonly SeenFile[]> {
  const { folder, isWanted, workOn, now, signal, openWatch = openFolderWatch } = options;
  await checkWatched(folder);
  const watch = openWatch(folder, mayBeInput);
  let seen = NOTHING_SEEN;
  try {
    while (!signal.aborted) {
      const files = await listFiles(folder, isWanted);
      const look = files === null ? null : takeLook(seen, files, now(), workOn);
      if (look !== null) {
        seen = look.next;
        if (look.settled.length > 0) yield look.settled;
      }
      // A file that grows changes no name, so a waiter has to look.
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

/** Null while the folder cannot be read. */
async function listFiles(folder: string, isWanted: (name: string) => boolean): Promise<SeenFile[] | null> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => null);
  if (entries === null) return null;
  const names = entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((name) => mayBeInput(name) && isWanted(name))
    .sort();
  const files: SeenFile[] = [];
  for (const name of names) {
    // It may be gone since, or lead nowhere.
    const found = await stat(join(folder, name)).catch(() => null);
    if (found?.isFile()) files.push({ name, bytes: found.size, mtimeMs: found.mtimeMs });
  }
  return files;
}

/** @throws Failure (`usage`) when there is no such folder, or it cannot be read */
export async function checkWatched(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory()) {
    await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      throw new Failure({
        category: 'usage',
        code: 'NO_FOLDER',
        message: `--watch takes its files from ${folder}, and this folder cannot be read (${error.code})`,
        advice: 'Correct its permissions, then run the same command again.',
      });
    });
    return;
  }
  throw new Failure({
    category: 'usage',
    code: 'NO_FOLDER',
    message: `--watch needs a folder, and ${folder} is ${found === null ? 'not there' : 'none'}`,
    advice: "Name a folder that is there; of its files --include '*.mp4' takes some only.",
  });
}

/**
 * Refuses to put results where they would be taken for new inputs: each would be paid for, without an end.
 * @throws Failure (`usage`)
 */
export async function checkResultsFolder(watched: string, results: string): Promise<void> {
  const [inputs, outputs] = await Promise.all([resolveLinks(watched), resolveLinks(results)]);
  if (outputs !== inputs && !outputs.startsWith(`${inputs}${sep}`)) return;
  throw new Failure({
    category: 'usage',
    code: 'RESULTS_WATCHED',
    message: `results would go to ${outputs}, which --watch takes its inputs from`,
    advice: 'Choose a folder outside the watched one with --out.',
  });
}

/** The real path of a folder, also of one that is yet to be made. */
async function resolveLinks(folder: string): Promise<string> {
  const path = resolve(folder);
  const real = await realpath(path).catch(() => null);
  if (real !== null) return real;
  const above = resolve(path, '..');
  return above === path ? path : join(await resolveLinks(above), relative(above, path));
}

export interface FilesAtWork {
  /** These files, absolute, were taken, and these items made of them. */
  begin(paths: readonly string[], items: readonly BatchItem[]): void;
  /** What the run reports about its items. */
  listen(event: BatchEvent): void;
  /** @param path absolute */
  workOn(path: string): FileWork;
}

/** The run has tried for minutes by then; who would run the command again would not do it at once. */
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
