/** Folders that systems, network storage and archive programs make: trash, thumbnails, snapshots, recovered pieces. */
import { basename } from 'node:path';

/** In lower case: Windows and most network shares ignore it. */
const SYSTEM_FOLDERS: ReadonlySet<string> = new Set([
  // Synology
  '@eadir',
  '#recycle',
  '#snapshot',
  // QNAP
  '@recycle',
  '@recently-snapshot',
  // NetApp
  '~snapshot',
  // Windows, now and before Vista
  '$recycle.bin',
  'recycler',
  'system volume information',
  // macOS: in archives, and in the trash of network shares
  '__macosx',
  'network trash folder',
  // Linux: pieces of files after a check of the disk
  'lost+found',
]);

/** Whether a folder has such a name. It is skipped like a hidden one where folders are searched, and used if a user names it. */
export function isSystemFolder(name: string): boolean {
  return SYSTEM_FOLDERS.has(name.toLowerCase());
}

/** One note for all folders of a run; none without any. @param paths of the skipped folders */
export function describeSystemFolders(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const sorted = paths.map((path) => basename(path)).toSorted();
  const names = [...new Set(sorted)].map((name) => {
    const count = sorted.lastIndexOf(name) - sorted.indexOf(name) + 1;
    return count === 1 ? name : `${name} (${count} times)`;
  });
  return [`Skipped folders of trash, snapshots or the system: ${names.join(', ')}. To use one, name it.`];
}
