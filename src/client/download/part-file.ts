/** The `.part` beside the target: bytes on disk and, if requested, their hash, always in step. */
import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, lstat, open, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { diskFailure, type Failure, temporaryFailure, usageFailure } from '../../base/failure.ts';
import type { FindInput } from '../../base/find-input.ts';
import { makeFolder } from '../../base/folder.ts';
import { syncFolder } from '../../base/sync.ts';
import { errorCode, onDisk } from '../../base/system-error.ts';

export interface PartFile {
  readonly path: string;
  /** Bytes in it. */
  readonly length: number;
  /** Appends the chunks; throws Failure (`disk`). */
  append(chunks: readonly Buffer[]): Promise<void>;
  /** Empties it; from now on its hash is taken or not. */
  restart(hashed: boolean): Promise<void>;
  /** Its first bytes, fewer where it is shorter. @throws Failure (`disk`) */
  head(bytes: number): Promise<Buffer>;
  /** SHA-256 of all bytes in it, lower-case hex; null when it is not taken. */
  digest(): string | null;
  /** Makes the bytes durable and closes; throws Failure (`disk`; `temporary` when another program changed it). */
  seal(): Promise<void>;
  close(): Promise<void>;
}

/** Large enough that reading back a part of 1 GiB takes a thousand steps, not a million. */
const READ_BYTES = 1024 ** 2;

/** Where a file that is being fetched grows until it is whole. */
export function partOf(target: string): string {
  return join(dirname(target), `.${basename(target)}.part`);
}

/**
 * Opens the part of an earlier run, or a new one (with the usual rights of a file, never through a symbolic link).
 * @param keep false when its content cannot be trusted
 * @param hashed whether to compute its hash, which takes as long as writing it
 * @throws Failure (`disk`)
 */
export async function openPartFile(
  path: string,
  { keep, hashed }: { keep: boolean; hashed: boolean },
): Promise<PartFile> {
  const handle = await openOwn(path);
  const identity = await claim(handle, path);
  let isOpen = true;
  const close = async () => {
    // Once it is closed, the part may be another's.
    if (isOpen) beingWritten.delete(identity);
    isOpen = false;
    await handle.close();
  };
  let hash = hashed ? createHash('sha256') : null;
  let length = 0;

  const restart = async (hashedAnew: boolean) => {
    await onDisk(path, () => handle.truncate(0));
    hash = hashedAnew ? createHash('sha256') : null;
    length = 0;
  };
  try {
    if (keep) length = await onDisk(path, () => readBack(handle, hash));
    else await restart(hashed);
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }

  return {
    path,
    get length() {
      return length;
    },
    async append(chunks) {
      for (const chunk of chunks) hash?.update(chunk);
      length += await onDisk(path, () => writeAll(handle, chunks, length));
    },
    restart,
    async head(bytes) {
      const buffer = Buffer.alloc(bytes);
      const { bytesRead } = await onDisk(path, () => handle.read(buffer, 0, bytes, 0));
      return buffer.subarray(0, bytesRead);
    },
    digest: () => hash?.copy().digest('hex') ?? null,
    async seal() {
      await onDisk(path, () => handle.sync());
      const isOwn = (await identify(path)) === identity && (await handle.stat()).size === length;
      await close();
      if (!isOwn) throw partFileGoneFailure(path);
    },
    close,
  };
}

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function openOwn(path: string): Promise<FileHandle> {
  const handle = await onDisk(path, () => open(path, FLAGS));
  await refuseSpecialFile(handle, path);
  if ((await handle.stat()).nlink < 2) return handle;
  // A killed run has already published it under its final name; writing into it would change that result.
  await handle.close();
  return onDisk(path, async () => {
    await unlink(path);
    return open(path, FLAGS | constants.O_EXCL);
  });
}

/** The parts that this process writes now, by what they are on the disk: a path may have several names. */
const beingWritten = new Set<string>();

/** @throws Failure when this process writes it already: the bytes of two results would be mixed */
async function claim(handle: FileHandle, path: string): Promise<string> {
  const identity = identityOf(await handle.stat({ bigint: true }));
  if (!beingWritten.has(identity)) {
    beingWritten.add(identity);
    return identity;
  }
  await handle.close();
  const message = `${path} is already being written, so nothing else was downloaded into it`;
  const advice = 'Give the two results other names, or fetch one after the other.';
  throw diskFailure('PART_IN_USE', message, advice);
}

function identityOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}

/** Null when there is nothing of that name. */
async function identify(path: string): Promise<string | null> {
  return stat(path, { bigint: true }).then(identityOf, () => null);
}

function partFileGoneFailure(path: string): Failure {
  const message = `${path} was changed by another program while it was being fetched`;
  const advice = 'Run the same command again once no other one fetches that file.';
  return temporaryFailure('PART_TAKEN', message, advice, { retryable: true });
}

/** A pipe or a device has endless bytes, and stores none. */
async function refuseSpecialFile(handle: FileHandle, path: string): Promise<void> {
  if ((await handle.stat()).isFile()) return;
  await handle.close();
  const message = `${path} is not a regular file, so nothing was downloaded into it`;
  throw diskFailure('DISK_ERROR', message, 'Remove it.');
}

/** Its length; on the way its bytes are hashed. */
async function readBack(handle: FileHandle, hash: Hash | null): Promise<number> {
  if (hash === null) return (await handle.stat()).size;
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  for (let length = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, length);
    if (bytesRead === 0) return length;
    hash.update(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
}

/** A disk that fills up takes a part of the bytes first and fails at the next call. */
async function writeAll(handle: FileHandle, chunks: readonly Buffer[], position: number): Promise<number> {
  let rest = [...chunks];
  let written = 0;
  while (rest.length > 0) {
    const { bytesWritten } = await handle.writev(rest, position + written);
    written += bytesWritten;
    rest = dropBytes(rest, bytesWritten);
  }
  return written;
}

function dropBytes(chunks: readonly Buffer[], count: number): Buffer[] {
  let left = count;
  return chunks.flatMap((chunk) => {
    const dropped = Math.min(left, chunk.length);
    left -= dropped;
    return dropped === chunk.length ? [] : [chunk.subarray(dropped)];
  });
}

/** The failure of an existing target that may not be replaced. */
function targetExistsFailure(path: string): Failure {
  return usageFailure(
    'TARGET_EXISTS',
    `${path} already exists and was not changed`,
    'Choose another folder with --out, or replace it with --clobber.',
  );
}

/** @throws Failure (`usage`) when the path is an input of the user, which no option allows to replace */
export async function refuseInput(path: string, findInput: FindInput = NO_INPUTS): Promise<void> {
  const input = await findInput(path);
  if (input === null) return;
  const what = input === path ? `${path} is an input` : `${path} is the input ${input}`;
  throw usageFailure(
    'TARGET_IS_INPUT',
    `${what}, so it was not changed`,
    'Choose another name or folder with --name or --out. Not even --clobber replaces an input.',
  );
}

const NO_INPUTS: FindInput = async () => null;

/** Creates the folder of the target and refuses an existing target, before anything is downloaded. */
export async function prepareTarget(path: string, overwrite: boolean): Promise<void> {
  await onDisk(path, () => makeFolder(dirname(path)));
  if (!overwrite && (await exists(path))) throw targetExistsFailure(path);
}

/** A link counts, also one to a file that does not exist: it has the name. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Renames the part and makes the name durable.
 * @throws Failure: `usage` when the target came into being meanwhile or is an input, else `disk`
 */
export async function publishPart(
  part: string,
  target: string,
  overwrite: boolean,
  findInput?: FindInput,
): Promise<void> {
  // Checked again: an input may have been put there since the download began.
  await refuseInput(target, findInput);
  await onDisk(target, async () => {
    if (overwrite) await rename(part, target);
    else await renameToNew(part, target);
    await syncFolder(dirname(target));
  });
}

/** File systems without hard links (exFAT, many network shares) answer with one of these. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EMLINK']);

/** `rename` replaces an existing file; only `link` refuses to, atomically. */
async function renameToNew(part: string, target: string): Promise<void> {
  try {
    await link(part, target);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw targetExistsFailure(target);
    if (!NO_LINKS.has(errorCode(error))) throw error;
    if (await exists(target)) throw targetExistsFailure(target);
    return rename(part, target);
  }
  await unlink(part);
}
