/** Which files of watched folders are worked on, and which are to be taken once more. */
import type { BatchEvent, BatchItem } from '../item.ts';
import { fileOf } from '../plan/items.ts';
import type { FileWork } from '../plan/settled-files.ts';

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
