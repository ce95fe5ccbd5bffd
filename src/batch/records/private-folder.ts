/** Folders for records: readable only by the user, and durable before anything is written into them. */
import { dirname } from 'node:path';
import { Failure } from '../../base/failure.ts';
import { makeFolder } from '../../base/folder.ts';
import { syncFolder } from '../../base/sync.ts';
import { inFolderOf } from '../../base/system-error.ts';

/** Makes the folder and those above it, 0700, and syncs the names of the new ones; existing folders stay as they are. */
export async function makePrivateFolder(path: string): Promise<void> {
  const first = await makeFolder(path, 0o700);
  if (first === null) return;
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) {
    await syncFolder(dirname(folder));
  }
}

/**
 * Runs work on the records of this machine, in its state folder.
 * @throws Failure (`disk`, of records), which says how to choose another folder
 */
export async function inStateFolder<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await inFolderOf('VLOC_STATE_DIR', work);
  } catch (error) {
    const isOfDisk = error instanceof Failure && error.facts.category === 'disk';
    throw isOfDisk ? error.with({ ofRecords: true }) : error;
  }
}
