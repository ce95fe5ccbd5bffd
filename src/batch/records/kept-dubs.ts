/** The subtitles that a dub was made of, and its track while a part of it is replaced, below the folder of the records. */
import { copyFile, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../base/replace-file.ts';
import { syncFile } from '../../base/sync.ts';
import { onDisk } from '../../base/system-error.ts';
import { checkLines } from '../../protocol/requests.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { shortDigest } from '../short-digest.ts';
import { makePrivateFolder } from './private-folder.ts';

/** The subtitles of a dub, and the service that spoke them. */
interface DubbedLines {
  readonly service: string;
  readonly lines: readonly SubtitleLine[];
}

function folderOf(records: string, item: string): string {
  return join(records, 'dubs', shortDigest(item));
}

const linesName = (sha256: string) => `${sha256}.json`;
const TRACK = 'track.wav';

/** The copy of the track of an item, which exists while a part of it is replaced. */
export function keptTrack(records: string, item: string): string {
  return join(folderOf(records, item), TRACK);
}

/**
 * Keeps the subtitles of a dub before it is made, and removes what the item no longer needs.
 * @param records folder of the records
 * @param item its key, and the digest of the subtitles
 * @param before digest of the subtitles of the last dub that was made; null for none
 * @param keepsTrack false removes the copy of its track too
 * @throws Failure (`disk`)
 */
export async function keepLines(
  records: string,
  { key, sha256 }: { readonly key: string; readonly sha256: string },
  dubbed: DubbedLines,
  before: string | null,
  keepsTrack: boolean,
): Promise<void> {
  const folder = folderOf(records, key);
  await onDisk(folder, () => makePrivateFolder(folder));
  await replaceFile(join(folder, linesName(sha256)), JSON.stringify(dubbed));
  const needed = [linesName(sha256), ...(before === null ? [] : [linesName(before)])];
  if (keepsTrack) needed.push(TRACK);
  const others = (await readdir(folder)).filter((name) => !needed.includes(name));
  await Promise.all(others.map((name) => rm(join(folder, name), { force: true }).catch(() => undefined)));
}

/** The subtitles of a dub; null if they were not kept, as by earlier versions. */
export async function readLines(records: string, item: string, sha256: string): Promise<DubbedLines | null> {
  const text = await readFile(join(folderOf(records, item), linesName(sha256)), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    const { service, lines }: { service?: unknown; lines?: unknown } = JSON.parse(text);
    const checked = checkLines(lines);
    return checked.ok && typeof service === 'string' ? { service, lines: checked.value } : null;
  } catch {
    // It was damaged, so the dub is made as a whole.
    return null;
  }
}

/** Copies the track of an item. @returns the path of the copy  @throws Failure (`disk`) */
export async function keepTrack(records: string, item: string, from: string): Promise<string> {
  const path = keptTrack(records, item);
  const part = `${path}.part`;
  await onDisk(path, async () => {
    await makePrivateFolder(dirname(path));
    await copyFile(from, part);
    await syncFile(part);
    await rename(part, path);
  });
  return path;
}
