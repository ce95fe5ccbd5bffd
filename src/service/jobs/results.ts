/** Results: stores the files of a job for downloads, and describes them for the record. */
import { realpath, stat, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { hashFile } from '../../base/hash-file.ts';
import type { MediaFile, Work } from '../../media/work.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import type { Provenance } from '../../protocol/provenance.ts';
import type { AssetResource, ResultValue } from '../../protocol/resources.ts';
import { formatNumberedSrt } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { FILE_MODE } from '../folders.ts';
import type { ProducedFile, ServiceStorage } from '../storage/storage.ts';

export interface StoredAsset {
  readonly content_type: string;
  readonly size_bytes: number;
  readonly sha256: string;
}

/** The record of a result. Assets and values have their names in the answer; a file has the name of its asset. */
export interface StoredResult {
  readonly assets: Readonly<Record<string, StoredAsset>>;
  readonly values: Readonly<Record<string, Exclude<ResultValue, AssetResource>>>;
  /** Not part of the answer. Missing if the engines did not report it. */
  readonly provenance?: Provenance | null;
}

/**
 * Stores the files of an attempt, so that the job can be recorded as finished. A second attempt that overlaps with the first
 * uses another folder.
 * @param work `folder` is the work folder of the attempt, which contains the products
 * @param folder name of the attempt in the storage
 * @param products files from an engine, by the names of their assets
 */
export async function storeFiles(
  storage: ServiceStorage,
  work: Pick<Work, 'folder' | 'signal'>,
  folder: string,
  kind: JobKind,
  products: Readonly<Record<string, MediaFile>>,
): Promise<Record<string, StoredAsset>> {
  const files: Record<string, ProducedFile> = {};
  for (const [name, product] of Object.entries(products)) {
    const path = await requireInside(work.folder, product.path);
    const { size: sizeBytes } = await stat(path);
    files[name] = { path, contentType: contentTypeOf(kind, name), sizeBytes, sha256: await hashFile(path) };
  }
  await storage.storeResult(folder, files, work);
  return Object.fromEntries(
    Object.entries(files).map(([name, { contentType, sizeBytes, sha256 }]) => [
      name,
      { content_type: contentType, size_bytes: sizeBytes, sha256 },
    ]),
  );
}

/** Writes lines as the SRT file that becomes the `subtitle` asset, with their numbers and texts. */
export async function writeSubtitle(workFolder: string, lines: readonly SubtitleLine[]): Promise<MediaFile> {
  const path = join(workFolder, 'subtitle.srt');
  await writeFile(path, formatNumberedSrt(lines), { mode: FILE_MODE });
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
  if (!real.startsWith(root + sep)) throw new Error('an engine returned a file outside its work folder');
  return real;
}
