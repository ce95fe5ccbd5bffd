/** Results on disk: moves the files of a job to the folder for downloads, and describes them for the record. */
import { realpath, rename, stat, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { makeFolder } from '../../disk/folder.ts';
import { hashFile } from '../../disk/hash-file.ts';
import type { MediaFile, Subtitle } from '../../engines/engine.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import type { AssetResource, ResultValue } from '../../protocol/resources.ts';
import { formatSrt } from '../../protocol/srt.ts';
import { FILE_MODE, FOLDER_MODE, syncToDisk } from '../folders.ts';

export interface StoredAsset {
  readonly content_type: string;
  readonly size_bytes: number;
  readonly sha256: string;
}

/** Assets and values of a result, by their names in the answer. A file has the name of its asset. */
export interface StoredResult {
  readonly assets: Readonly<Record<string, StoredAsset>>;
  readonly values: Readonly<Record<string, Exclude<ResultValue, AssetResource>>>;
}

/**
 * The target folder for the files of one attempt. A second attempt that overlaps with the first uses another folder.
 */
interface ResultFolders {
  /** Folder of the running attempt, which contains its products. */
  readonly workFolder: string;
  /** Folder of the finished attempt, which contains its assets. */
  readonly assetFolder: string;
}

/**
 * Moves files to the asset folder and flushes them to disk, so that the job can be recorded as finished.
 * @param products files from an engine, by the names of their assets
 */
export async function storeFiles(
  folders: ResultFolders,
  kind: JobKind,
  products: Readonly<Record<string, MediaFile>>,
): Promise<Record<string, StoredAsset>> {
  await makeFolder(folders.assetFolder, FOLDER_MODE);
  const assets: Record<string, StoredAsset> = {};
  for (const [name, product] of Object.entries(products)) {
    const source = await requireInside(folders.workFolder, product.path);
    await syncToDisk(source);
    const { size } = await stat(source);
    assets[name] = {
      content_type: contentTypeOf(kind, name),
      size_bytes: size,
      sha256: await hashFile(source),
    };
    await rename(source, join(folders.assetFolder, name));
  }
  await syncToDisk(folders.assetFolder);
  await syncToDisk(join(folders.assetFolder, '..'));
  return assets;
}

/** Writes subtitles as the SRT file that becomes the `subtitle` asset. */
export async function writeSubtitle(workFolder: string, subtitle: Subtitle): Promise<MediaFile> {
  const path = join(workFolder, 'subtitle.srt');
  await writeFile(path, formatSrt(subtitle.lines), { mode: FILE_MODE });
  return { path, contentType: 'application/x-subrip' };
}

/** The file name that a browser uses to save an asset. */
export function assetFileName(kind: JobKind, name: string, jobId: string): string {
  const part = partOf(kind, name);
  return part?.type === 'asset' ? `${jobId}.${part.label}${part.extension}` : `${jobId}.${name}`;
}

function contentTypeOf(kind: JobKind, name: string): string {
  const part = partOf(kind, name);
  if (part?.type !== 'asset') throw new Error(`${kind} has no asset "${name}"`);
  return part.contentType;
}

function partOf(kind: JobKind, name: string): ResultPart | undefined {
  const parts: Readonly<Record<string, ResultPart>> = KINDS[kind].result;
  return parts[name];
}

/** An engine may be any command, so its output paths must be inside the folder that it was given. */
async function requireInside(folder: string, path: string): Promise<string> {
  const [root, real] = await Promise.all([realpath(folder), realpath(path)]);
  if (!real.startsWith(root + sep)) throw new Error('an engine gave a file outside its work folder');
  return real;
}
