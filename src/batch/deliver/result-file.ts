/** A result file on the disk: compares its bytes, and makes it of what was downloaded. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { diskFailure, Failure } from '../../base/failure.ts';
import { makeFolder } from '../../base/folder.ts';
import { onDisk } from '../../base/system-error.ts';
import type { KeptResult } from '../item.ts';
import { isKept } from '../kept-tracks.ts';
import type { TracksTask } from '../preparation.ts';
import type { StoredFile } from '../records/attempts.ts';

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

/** The record of the file, if it has the bytes that one of them has for its path; otherwise null. */
export async function findVersion<File extends StoredFile>(
  path: string,
  files: readonly File[],
): Promise<File | null> {
  for (const file of files) {
    const { path: own, size: bytes, sha256 } = file;
    if (own === path && (await isSameFile(path, { bytes, sha256 }))) return file;
  }
  return null;
}

/** Adds the tracks and the mark; returns the path of the new file in the folder, or of the video. @throws Failure */
export type AddTracks = (
  task: Omit<TracksTask, 'made'>,
  work: { readonly signal: AbortSignal; readonly folder: string },
) => Promise<string>;

/** How a result is made of what is downloaded. */
export interface DownloadMaking {
  readonly target: string;
  /** Name of the download, for messages. */
  readonly name: string;
  /** Whether a file has the bytes of the download. */
  readonly isResult: (path: string) => Promise<boolean>;
  readonly fetch: (to: string) => Promise<unknown>;
  /** Makes the result in an empty folder and returns its path. */
  readonly make: (download: string, folder: string) => Promise<string>;
}

/** SHA-256 in lower-case hex. */
export interface WrittenFile {
  readonly bytes: number;
  readonly sha256: string;
}

/** Where the download and what is made of it are until the result gets its name. */
function scratchOf(target: string): string {
  return join(dirname(target), `.${basename(target)}.add`);
}

/** @throws Failure; the download is kept, unless it is what failed */
export async function makeOfDownload(task: DownloadMaking): Promise<WrittenFile & { readonly from: string }> {
  const { target, name, isResult, fetch, make } = task;
  const folder = scratchOf(target);
  const download = join(folder, name);
  const work = join(folder, 'work');
  await onDisk(folder, () => makeFolder(folder, 0o700));
  if (!(await isResult(download))) await fetch(download);
  await onDisk(work, () => rm(work, { recursive: true, force: true }));
  await onDisk(work, () => makeFolder(work, 0o700));
  const from = await make(download, work);
  return onDisk(from, async () => ({
    from,
    bytes: (await stat(from)).size,
    sha256: await digestFile(from),
  }));
}

/** Removes what this or an earlier delivery of the same file left there. */
export async function removeScratch(target: string): Promise<void> {
  await rm(scratchOf(target), { recursive: true, force: true }).catch(() => undefined);
}

/** Makes a video with tracks, or sound, of a download. A failure says where the download is kept. */
export function withTracks(keep: KeptResult, add: AddTracks, signal: AbortSignal): DownloadMaking['make'] {
  return (download, folder) =>
    addKept(download, keep, add, { signal, folder }).catch((error: unknown) => {
      throw error instanceof Failure ? atPlaceFailure(error, download) : error;
    });
}

/** Burns subtitles in, adds the tracks if the source is still the file that the video was made from, and marks it. @throws Failure */
export async function addKept(
  video: string,
  { tracks, source, isFirst, burned, sound, mark }: KeptResult,
  add: AddTracks,
  work: Parameters<AddTracks>[1],
): Promise<string> {
  if (source === undefined)
    return add({ video, burned, sound, source: null, audio: false, subtitles: false, mark }, work);
  const found = await stat(source.path).catch(() => null);
  const isSame = found !== null && found.size === source.bytes && found.mtimeMs === source.mtimeMs;
  if (!isSame) throw sourceGoneFailure(source.path, found === null);
  return add(
    {
      ...{ video, burned, sound, source, isFirst, mark },
      audio: isKept('audio', tracks),
      subtitles: isKept('subtitles', tracks),
    },
    work,
  );
}

function sourceGoneFailure(path: string, isMissing: boolean): Failure {
  const message = isMissing
    ? `${path} no longer exists, so its tracks and tags cannot be added to the result`
    : `${path} was changed since the result was made, so its tracks and tags may not fit the result`;
  const advice = 'Restore it and run the same command again; it is not charged again.';
  return diskFailure('TRACKS_NOT_ADDED', message, advice);
}

function atPlaceFailure(failure: Failure, plain: string): Failure {
  const { advice = '' } = failure.facts;
  const instead =
    'Without --keep-audio, --keep-subtitles, --subtitle-style, --sound-only and --mark, or with `vloc jobs download ID --as-is`, the result is downloaded unchanged.';
  // An advice has several lines, so a line break in the name would pass for one of them.
  const place = /\p{Cc}/u.test(plain) ? JSON.stringify(plain) : plain;
  return failure.with({ advice: `${advice}\nThe result is kept in ${place}. ${instead}` });
}
