/** Holds that a run has left the files of its user as they were. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';

async function digestOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

/** SHA-256 of each file of a folder and its folders, by its path in it, for those whose path is wanted. */
export async function digestTree(
  folder: string,
  isWanted: (path: string) => boolean = () => true,
): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter(isWanted)
    .sort();
  const digests: Record<string, string> = {};
  for (const path of paths) digests[path] = await digestOf(join(folder, path));
  return digests;
}

/** When the test ends, each of these files must be what it is now. */
export async function expectUntouched(...paths: readonly string[]): Promise<void> {
  const digests = () => Promise.all(paths.map(async (path) => [path, await digestOf(path)]));
  const before = await digests();
  onTestFinished(async () => expect(await digests(), 'an input has changed').toEqual(before));
}
