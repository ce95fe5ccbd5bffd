/** Uploads and results in the state folder. Their addresses lead to the service itself. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../base/folder.ts';
import { moveFile } from '../../base/move-file.ts';
import { syncFile, syncFolder } from '../../base/sync.ts';
import { FOLDER_MODE, type Folders, jobOfAttempt } from '../folders.ts';
import { assetPermission, type LinkSigner, uploadPermission } from './links.ts';
import type { ServiceStorage, StoredEntry } from './storage.ts';

/**
 * Creates the storage of a state folder.
 * @param origin scheme and host of the service as seen by callers
 */
export function createFolderStorage(
  { uploads, assets }: Pick<Folders, 'uploads' | 'assets'>,
  links: LinkSigner,
  origin: () => string,
): ServiceStorage {
  const remove = (path: string) => rm(path, { recursive: true, force: true });
  return {
    sharesFolder: true,
    sweepEveryMs: 0,
    reserveFile: () => null,
    uploadTarget: async (upload) => ({
      url: origin() + links.sign(uploadPermission(upload)),
      headers: { 'Content-Type': upload.content_type },
    }),
    // Recorded when the bytes arrived.
    findUpload: async ({ etag, size_bytes: sizeBytes }) => (etag === null ? null : { etag, sizeBytes }),
    pathOf: (file) => join(uploads, file),
    fetchUpload: async ({ file }) => join(uploads, file),
    removeUpload: (file) => remove(join(uploads, file)),

    async storeResult(folder, files) {
      const target = join(assets, folder);
      await makeFolder(target, FOLDER_MODE);
      for (const [name, { path }] of Object.entries(files)) {
        // `work` may be a disk of this machine, while `assets` is shared with others.
        await moveFile(path, join(target, name));
        await syncFile(join(target, name));
      }
      await syncFolder(target);
      await syncFolder(assets);
    },
    resultUrl: async ({ jobId, name, expiresAt }) =>
      origin() + links.sign(assetPermission(jobId, name, expiresAt)),
    removeResult: (folder) => remove(join(assets, folder)),
    async removeResultsOf(jobId) {
      const left = (await readdir(assets)).filter((name) => jobOfAttempt(name) === jobId);
      for (const name of left) await remove(join(assets, name));
    },

    listUploads: () => entriesOf(uploads),
    listResults: () => entriesOf(assets),
    // The health check writes to the disk anyway.
    check: async () => {},
    close() {},
  };
}

/** Returns what is in a folder. */
export async function* entriesOf(folder: string): AsyncGenerator<StoredEntry> {
  for (const name of await readdir(folder)) {
    yield {
      name,
      modifiedAt: async () => (await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? null,
    };
  }
}
