/** A result file on the disk: renames it, and compares its bytes. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, open, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { diskFailure, Failure } from '../../base/failure.ts';
import type { FindInput } from '../../base/find-input.ts';
import { makeFolder } from '../../base/folder.ts';
import { moveFile } from '../../base/move-file.ts';
import { fileSystemFailure, onDisk } from '../../base/system-error.ts';
import { partOf, prepareTarget, publishPart, refuseInput } from '../../client/download/part-file.ts';
import type { KeptResult } from '../item.ts';
import type { TracksTask } from '../preparation.ts';
import type { StoredFile } from '../records/intents.ts';
import { isKept } from '../records/kept-tracks.ts';

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
async function digestFile(path: string): Promise<string> {
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

/** Adds the tracks; returns the path of the new file in the folder. @throws Failure */
export type AddTracks = (
  task: TracksTask,
  work: { readonly signal: AbortSignal; readonly folder: string },
) => Promise<string>;

interface WithTracks {
  readonly target: string;
  readonly keep: KeptResult;
  readonly add: AddTracks;
  /** Whether a file has the bytes of the result. */
  readonly isResult: (path: string) => Promise<boolean>;
  readonly fetch: (to: string) => Promise<unknown>;
  readonly beforePublish: (file: WrittenFile) => Promise<void>;
  readonly overwrite: boolean;
  readonly findInput: FindInput;
  readonly signal: AbortSignal;
}

/** SHA-256 in lower-case hex. */
export interface WrittenFile {
  readonly bytes: number;
  readonly sha256: string;
}

/** Where the download and the video with its new tracks are until it gets its name. */
function scratchOf(target: string): string {
  return join(dirname(target), `.${basename(target)}.add`);
}

/** @throws Failure; the download is kept, unless it is what failed */
export async function writeWithTracks(task: WithTracks): Promise<WrittenFile> {
  const { target, keep, add, isResult, fetch, beforePublish, overwrite, findInput, signal } = task;
  await prepareTarget(target, overwrite);
  const folder = scratchOf(target);
  const plain = join(folder, 'result.mp4');
  const work = join(folder, 'work');
  await onDisk(folder, () => makeFolder(folder, 0o700));
  if (!(await isResult(plain))) await fetch(plain);
  await onDisk(work, () => rm(work, { recursive: true, force: true }));
  await onDisk(work, () => makeFolder(work, 0o700));
  const made = await addKept(plain, keep, add, { signal, folder: work }).catch((error: unknown) => {
    throw error instanceof Failure ? atPlaceFailure(error, plain) : error;
  });
  const written = await onDisk(made, async () => ({
    bytes: (await stat(made)).size,
    sha256: await digestFile(made),
  }));
  await beforePublish(written);
  await placeFile(made, target, overwrite, findInput);
  await removeScratch(target);
  return written;
}

/** Removes what an earlier delivery of the same file left there. */
export async function removeScratch(target: string): Promise<void> {
  await rm(scratchOf(target), { recursive: true, force: true }).catch(() => undefined);
}

/** Adds the tracks if the source is still the file that the video was made from. @throws Failure */
export async function addKept(
  video: string,
  { tracks, source }: KeptResult,
  add: AddTracks,
  work: Parameters<AddTracks>[1],
): Promise<string> {
  const found = await stat(source.path).catch(() => null);
  const isSame = found !== null && found.size === source.bytes && found.mtimeMs === source.mtimeMs;
  if (!isSame) throw sourceGoneFailure(source.path, found === null);
  return add({ video, source, audio: isKept('audio', tracks), subtitles: isKept('subtitles', tracks) }, work);
}

function sourceGoneFailure(path: string, isMissing: boolean): Failure {
  const message = isMissing
    ? `${path} no longer exists, so its tracks cannot be added to the result`
    : `${path} was changed since the result was made, so its tracks may not fit the result`;
  const advice = 'Restore it and run the same command again; it is not charged again.';
  return diskFailure('TRACKS_NOT_ADDED', message, advice);
}

function atPlaceFailure(failure: Failure, plain: string): Failure {
  const { advice = '' } = failure.facts;
  const instead =
    'Without --keep-audio and --keep-subtitles, or with `vloc jobs download ID --as-is`, the result is downloaded unchanged.';
  // An advice has several lines, so a line break in the name would pass for one of them.
  const place = /\p{Cc}/u.test(plain) ? JSON.stringify(plain) : plain;
  return failure.with({ advice: `${advice}\nThe result is kept in ${place}. ${instead}` });
}
