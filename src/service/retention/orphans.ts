/** Removes files that no record names: what a process left behind that died between a file and its record. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.ts';

/** Twice the life of an upload address: nothing is written for longer before its record names it. */
const MIN_AGE_MS = 2 * 60 * 60_000;

/** Looks through the three folders; young files stay, since their record may be on its way. */
export async function removeOrphans(context: Context, now: number): Promise<void> {
  const { store, folders } = context;
  const known = (sql: string, value: string, ...more: number[]) =>
    store.get(sql, value, ...more) !== undefined;
  await removeFrom(folders.uploads, now, (name) => known('SELECT 1 FROM uploads WHERE file = ?', name));
  await removeFrom(folders.assets, now, (name) => known('SELECT 1 FROM jobs WHERE folder = ?', name));
  await removeFrom(folders.work, now, (name) =>
    known('SELECT 1 FROM jobs WHERE id = ? AND lease_until > ?', jobIdOf(name), now),
  );
}

/** A work folder is called after its job: id, `-`, and something that differs for every attempt. */
function jobIdOf(folder: string): string {
  return folder.split('-', 1)[0] ?? '';
}

async function removeFrom(folder: string, now: number, isKnown: (name: string) => boolean): Promise<void> {
  for (const name of await readdir(folder)) {
    if (isKnown(name)) continue;
    const path = join(folder, name);
    const facts = await stat(path).catch(() => null);
    if (facts === null || now - facts.mtimeMs < MIN_AGE_MS) continue;
    await rm(path, { recursive: true, force: true });
  }
}
