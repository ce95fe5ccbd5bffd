/** The files of an account that is moved: uploads and results, in a state folder or in a bucket. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeFolder } from '../../base/folder.ts';
import { syncFile, syncFolder } from '../../base/sync.ts';
import { errorCode } from '../../base/system-error.ts';
import { FILE_MODE, FOLDER_MODE, type Folders } from '../folders.ts';
import { type Bucket, BucketRefusal } from '../storage/bucket.ts';
import type { Statements } from '../store/store.ts';

/** A file by its path in a state folder, which is its name in a bucket too: `uploads/NAME`, `assets/FOLDER/NAME`. */
type FilePath = string;

export interface AccountFiles {
  /** For messages, and to detect whether two accounts have the same files. */
  readonly shown: string;
  /** The name of an upload here. */
  nameUpload(upload: { readonly id: string; readonly file: string }): string;
  /** Returns the names of the files of a result. */
  listResult(folder: string): Promise<string[]>;
  /** Returns a local file with that content, which may be below `scratch`; null if it is gone. */
  fetch(path: FilePath, scratch: string): Promise<string | null>;
  /** Stores a copy of a local file, unless it is here already. Returns its ETag if this place has its own. */
  store(path: FilePath, local: string): Promise<string | null>;
  /** Returns the name of a file if there are any. */
  findAny(): Promise<string | null>;
}

export function filesOfFolder({ root, uploads, assets }: Folders): AccountFiles {
  return {
    shown: root,
    nameUpload: ({ file }) => file,
    listResult: (folder) => readdir(join(assets, folder)).catch(ifMissing([])),
    fetch: async (path) =>
      (await stat(join(root, path)).catch(ifMissing(null))) === null ? null : join(root, path),
    async store(path, local) {
      await copyOnce(local, join(root, path));
      return null;
    },
    async findAny() {
      const names = [...(await readdir(uploads)), ...(await readdir(assets))];
      return names[0] ?? null;
    },
  };
}

const ifMissing =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (errorCode(error) === 'ENOENT') return value;
    throw error;
  };

/** The copy is complete or missing. */
async function copyOnce(path: string, copy: string): Promise<void> {
  const there = await stat(copy).catch(ifMissing(null));
  if (there !== null && there.size === (await stat(path)).size) return;
  const folder = dirname(copy);
  await makeFolder(folder, FOLDER_MODE);
  const draft = join(folder, `.${basename(copy)}.part`);
  await copyFile(path, draft);
  await syncFile(draft);
  await rename(draft, copy);
  await syncFolder(folder);
}

/** @param prefix start of all names in the bucket */
export function filesOfBucket(bucket: Bucket, prefix: string, shown: string): AccountFiles {
  const find = async (path: FilePath) => {
    const { headers, body } = await bucket.send({ method: 'HEAD', key: prefix + path });
    body.resume();
    return headers;
  };
  const ifGone = (error: unknown) => {
    if (error instanceof BucketRefusal && error.status === 404) return null;
    throw error;
  };
  return {
    shown,
    // Callers send the bytes of an upload there before its row has a file.
    nameUpload: ({ id }) => id,
    async listResult(folder) {
      const names: string[] = [];
      const start = `${prefix}assets/${folder}/`;
      for await (const { key } of bucket.list(start)) names.push(key.slice(start.length));
      return names;
    },
    async fetch(path, scratch) {
      const answer = await bucket.send({ method: 'GET', key: prefix + path }).catch(ifGone);
      if (answer === null) return null;
      const local = join(scratch, basename(path));
      await pipeline(answer.body, createWriteStream(local, { mode: FILE_MODE }));
      return local;
    },
    async store(path, local) {
      const { size: bytes } = await stat(local);
      const there = await find(path).catch(ifGone);
      if (there !== null && Number(there['content-length']) === bytes) return bare(there.etag);
      const hash = createHash('sha256');
      await pipeline(createReadStream(local), hash);
      const body = { bytes, sha256: hash.digest('hex'), open: () => createReadStream(local) };
      const headers = { 'content-type': 'application/octet-stream' };
      const { headers: stored, body: said } = await bucket.send({
        method: 'PUT',
        key: prefix + path,
        headers,
        body,
      });
      said.resume();
      return bare(stored.etag);
    },
    // An object that is not of this cluster is refused when the bucket is opened.
    findAny: async () => null,
  };
}

const bare = (etag: string | undefined) =>
  etag === undefined ? null : etag.replaceAll('"', '').toLowerCase();

/** How the rows of uploads change: by id. */
export type MovedUploads = ReadonlyMap<string, { readonly file: string; readonly etag: string | null }>;

/** Copies the files that the rows of an account name. Missing files are skipped, as they are at the source. */
export async function copyFiles(
  rows: Pick<Statements, 'all'>,
  { from, to }: { readonly from: AccountFiles; readonly to: AccountFiles },
  signal: AbortSignal,
): Promise<{ count: number; uploads: MovedUploads }> {
  const uploads = new Map<string, { file: string; etag: string | null }>();
  const scratch = await mkdtemp(join(tmpdir(), 'vloc-move-'));
  let count = 0;
  const copy = async (path: FilePath, target: FilePath): Promise<string | null> => {
    signal.throwIfAborted();
    const local = await from.fetch(path, scratch);
    if (local === null) return null;
    const etag = await to.store(target, local);
    if (dirname(local) === scratch) await rm(local);
    count += 1;
    return etag;
  };
  try {
    for (const row of await rows.all<{ id: string; file: string }>(
      'SELECT id, file FROM uploads WHERE file IS NOT NULL',
    )) {
      const file = to.nameUpload(row);
      uploads.set(row.id, { file, etag: await copy(`uploads/${row.file}`, `uploads/${file}`) });
    }
    for (const { folder } of await rows.all<{ folder: string }>(
      'SELECT folder FROM jobs WHERE folder IS NOT NULL',
    )) {
      for (const name of await from.listResult(folder)) {
        const path = `assets/${folder}/${name}`;
        await copy(path, path);
      }
    }
    return { count, uploads };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
