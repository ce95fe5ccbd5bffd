/** Several folders watched side by side. */
import { join } from 'node:path';
import type { FileWork } from '../plan/settled-files.ts';
import { type WatchOptions, watchFolder } from './watch-folder.ts';

export interface FoldersOptions extends Pick<WatchOptions, 'now' | 'signal' | 'openWatch'> {
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
