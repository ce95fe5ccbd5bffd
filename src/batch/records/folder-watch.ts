/** Waiting until files come and go in a folder. */
import { type FSWatcher, watch } from 'node:fs';

interface FolderWatch {
  /** Resolves after the next change, immediately if there was one since the last call, at the latest after `ms`. Rejects on abort. */
  changed(ms: number, signal?: AbortSignal): Promise<void>;
  close(): void;
}

/**
 * Watches for names that come or go. Where the system cannot (no watches left, network shares), the time limit remains.
 * @param isWanted which names matter
 */
export function watchFolder(folder: string, isWanted: (name: string) => boolean): FolderWatch {
  let hasChanged = false;
  let wake = () => {};
  const watcher = startWatcher(folder, (name) => {
    if (name !== null && !isWanted(name)) return;
    hasChanged = true;
    wake();
  });

  return {
    changed(ms, signal) {
      return new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          wake = () => {};
          hasChanged = false;
          settle();
        };
        const onAbort = () => end(() => reject(signal?.reason));
        const timer = setTimeout(() => end(resolve), ms);
        wake = () => end(resolve);
        signal?.addEventListener('abort', onAbort);
        if (signal?.aborted) onAbort();
        else if (hasChanged) wake();
      });
    },
    close: () => watcher?.close(),
  };
}

function startWatcher(folder: string, onName: (name: string | null) => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, (event, name) => {
      // `change` is a heartbeat; `rename` is Node's word for a name that comes or goes.
      if (event === 'rename') onName(name);
    });
    return watcher.on('error', () => watcher.close());
  } catch {
    return null;
  }
}
