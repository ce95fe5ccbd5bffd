/** A result file on the disk: renames it, and compares its bytes. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { FindInput } from '../../base/find-input.ts';
import { moveFile } from '../../base/move-file.ts';
import { fileSystemFailure } from '../../base/system-error.ts';
import { partOf, prepareTarget, publishPart, refuseInput } from '../../client/download/part-file.ts';
import type { StoredFile } from '../records/intents.ts';

/**
 * Moves a complete file to its path, atomically and durably.
 * @throws Failure: `usage` (TARGET_EXISTS, TARGET_IS_INPUT) if there is a file that may not be replaced, `disk`
 */
export async function placeFile(
  from: string,
  target: string,
  overwrite: boolean,
  findInput?: FindInput,
): Promise<void> {
  const part = partOf(target);
  for (const written of [target, part]) await refuseInput(written, findInput);
  await prepareTarget(target, overwrite);
  try {
    await moveFile(from, part);
    const file = await open(part, 'r+');
    await file.sync().finally(() => file.close());
    await publishPart(part, target, overwrite, findInput);
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw fileSystemFailure(error, target);
  }
}

/** SHA-256 in lower-case hex. */
export async function digestFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/**
 * Whether the path is a regular file with these bytes.
 * @param expected size in bytes, SHA-256 in lower-case hex
 */
export async function isSameFile(
  path: string,
  expected: { readonly bytes: number; readonly sha256: string },
): Promise<boolean> {
  try {
    const found = await lstat(path);
    if (!found.isFile() || found.size !== expected.bytes) return false;
    return (await digestFile(path)) === expected.sha256;
  } catch {
    // A file that is missing or unreadable does not count.
    return false;
  }
}

/** Whether the file has the bytes that one of the records has for its path. */
export async function isAnyOf(path: string, files: readonly StoredFile[]): Promise<boolean> {
  for (const { path: own, size: bytes, sha256 } of files) {
    if (own === path && (await isSameFile(path, { bytes, sha256 }))) return true;
  }
  return false;
}
