/** Checks that a run has not changed the user's files. */
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';

const digestOf = async (path: string) => hash('sha256', await readFile(path));

/** Returns the relative paths of all wanted files in a folder and its subfolders. */
export async function listTree(
  folder: string,
  isWanted: (path: string) => boolean = () => true,
): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter(isWanted)
    .sort();
}

/** Returns the SHA-256 of each of them by its path. */
export async function digestTree(...tree: Parameters<typeof listTree>): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const path of await listTree(...tree)) digests[path] = await digestOf(join(tree[0], path));
  return digests;
}

/** Checks at the end of the test that each of these files is unchanged. */
export async function expectUntouched(...paths: readonly string[]): Promise<void> {
  const digests = () => Promise.all(paths.map(async (path) => [path, await digestOf(path)]));
  const before = await digests();
  onTestFinished(async () => expect(await digests(), 'an input has changed').toEqual(before));
}
