/** Checks that a run has not changed the user's files. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';

async function digestOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

/** Returns the SHA-256 of each wanted file in a folder and its subfolders, by relative path. */
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

/** Checks at the end of the test that each of these files is unchanged. */
export async function expectUntouched(...paths: readonly string[]): Promise<void> {
  const digests = () => Promise.all(paths.map(async (path) => [path, await digestOf(path)]));
  const before = await digests();
  onTestFinished(async () => expect(await digests(), 'an input has changed').toEqual(before));
}
