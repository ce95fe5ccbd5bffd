/** Files that are written whole or not at all: a draft beside them, which replaces them. */
import { hash, randomUUID } from 'node:crypto';
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolder } from './folder.ts';
import { lookUpProcess, readPidSpace } from './process-state.ts';
import { syncFile } from './sync.ts';
import { onDisk } from './system-error.ts';

type Content = Uint8Array | string | AsyncIterable<Uint8Array>;

/**
 * Replaces a file atomically: readers see the old one or the new one. Its permissions stay.
 * @throws Failure (`disk`); what the content throws
 */
export async function replaceFile(path: string, content: Content): Promise<void> {
  await publishWhole(path, async (draft) => {
    const { mode = 0o666 } = (await stat(path).catch(() => null)) ?? {};
    await writeFile(draft, content, { flag: 'wx', mode });
    await syncFile(draft);
  });
}

/**
 * Makes a file or a folder under another name beside it, which becomes its own in the end. Also removes drafts in its folder that
 * processes of this machine left when they were killed.
 * @throws Failure (`disk`); what `make` throws
 */
export async function publishWhole(path: string, make: (draft: string) => Promise<void>): Promise<void> {
  await onDisk(path, async () => {
    const folder = dirname(path);
    const draft = draftPath(folder);
    try {
      await makeFolder(folder);
      await removeLeftDrafts(folder);
      await make(draft);
      await rename(draft, path);
    } catch (error) {
      await remove(draft).catch(() => undefined);
      throw error;
    }
  });
}

function remove(draft: string): Promise<void> {
  return rm(draft, { recursive: true, force: true });
}

/** Where the pids of this process mean something; a folder may be on a network. */
const PLACE = hash('sha256', `${hostname()}\0${readPidSpace()}`).slice(0, 8);

/** A hidden name in the folder of a file, so that both are on one file system; it tells the process. */
export function draftPath(folder: string): string {
  const self = lookUpProcess(process.pid);
  const started = self.state === 'running' ? self.started : null;
  return join(folder, `.vloc-${PLACE}-${process.pid}-${started ?? ''}-${randomUUID()}.part`);
}

const DRAFT = /^\.vloc-([0-9a-f]{8})-(\d+)-(\d*)-.*\.part$/;

/** True for a draft of a process of this machine that does not run any more; another one may have its pid now. */
function isLeft(name: string): boolean {
  const [, place, pid, started] = DRAFT.exec(name) ?? [];
  if (place !== PLACE) return false;
  const found = lookUpProcess(Number(pid));
  return found.state === 'gone' || (found.started !== null && found.started !== started);
}

/** Folders that were looked at: a run that replaces many files looks once. */
const seen = new Set<string>();

/** Only tidies up: a draft that cannot be removed stops no work. */
async function removeLeftDrafts(folder: string): Promise<void> {
  if (seen.has(folder)) return;
  seen.add(folder);
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter(isLeft)) await remove(join(folder, name)).catch(() => undefined);
}
