/** Folders for records: for nobody else to read, and durable before anything is written into them. */
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../disk/make-folder.ts';
import { errorCode } from './failure.ts';

/** Makes the folder and those above it, 0700, and syncs the names of all that are new; one that is there stays as it is. */
export async function makePrivateFolder(path: string): Promise<void> {
  const first = await makeFolder(path, 0o700);
  if (first === null) return;
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) {
    await syncFolder(dirname(folder));
  }
}

/** Makes the names in a folder durable. Some file systems cannot: there the name is durable without, or nothing helps. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    if (errorCode(error) === 'EIO') throw error;
  }
}
