/** What a killed process leaves behind: children, and files that no record names. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from './audit.ts';
import type { World } from './world.ts';

/** The kernel ends children together with their parent; this is for its scheduler, on a machine that is busy. */
const GRACE_MS = 60_000;

/**
 * Waits for the children of dead processes to go, and adds those that do not to the book.
 * @param living services that still run, with their children
 */
export async function auditChildren(world: World, living: readonly number[] = []): Promise<void> {
  const giveUpAt = Date.now() + GRACE_MS;
  let left = findChildren(world.root, living);
  while (left.length > 0 && Date.now() < giveUpAt) {
    await sleep(20);
    left = findChildren(world.root, living);
  }
  for (const command of left) world.book.violations.push(`a child outlives the service: ${command}`);
}

/** Command lines of the processes whose environment has a path below the root. */
function findChildren(root: string, living: readonly number[]): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (living.includes(Number(pid)) || living.includes(parentOf(pid))) return [];
        if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(root)) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
        // Nothing is left of a process that only waits for its end to be read.
        return command === '' ? [] : [command];
      } catch {
        return [];
      }
    });
}

/** The second number after the name, which is in brackets. Source: proc(5). */
function parentOf(pid: string): number {
  return Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[1]);
}

/** Files below the state folder that no record names. */
export function findOrphanFiles(world: World): string[] {
  const database = openDatabase(world);
  try {
    const names = (sql: string) =>
      new Set(
        database
          .prepare(sql)
          .all()
          .map(({ name }) => name),
      );
    const uploads = names('SELECT file AS name FROM uploads');
    const assets = names('SELECT folder AS name FROM jobs');
    const list = (folder: string) => {
      const path = join(world.stateDir, folder);
      return existsSync(path) ? readdirSync(path).map((name) => ({ folder, name })) : [];
    };
    return [
      ...list('uploads').filter(({ name }) => !uploads.has(name)),
      ...list('assets').filter(({ name }) => !assets.has(name)),
      ...list('work'),
    ].map(({ folder, name }) => `${folder}/${name}`);
  } finally {
    database.close();
  }
}
